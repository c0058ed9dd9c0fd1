"""One case, from file to result: the unit of work of a worker process.

A failure in one case never stops the others: it becomes the outcome of that case.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from harness.baseline.core import known_core_findings
from harness.baseline.files import (
    Baseline,
    BaselineFormatError,
    cassette_digest,
    fitting_observation,
    write_baseline,
)
from harness.baseline.projected import projected
from harness.baseline.stale import staleness
from harness.cassette.variants import variant_of
from harness.coverage.contract import Contract, load_contract
from harness.coverage.declared import declared_remarks
from harness.errors import (
    CassetteError,
    HarnessError,
    LoadProblem,
    Unplayable,
    UnusableSide,
    in_short,
)
from harness.experiment.backend import Backend, LoadedCassette
from harness.experiment.shareable import compared_without_secrets
from harness.parity.compare import compare_repeated
from harness.parity.provider import NOT_AT_HAND, CoreFindings
from harness.parity.verdict import CaseResult
from harness.replay.confining import confining
from harness.replay.observation import Observation
from harness.replay.trace import trace_json
from harness.sides import baseline_folder, hands_over, provider_name, surface_name
from harness.whole_file import write_whole
from runtimes.contract import UnusableRuntime

__all__ = [
    "BaselineTask",
    "Baselined",
    "CaseOutcome",
    "CaseTask",
    "CassetteTask",
    "Observed",
    "Skipped",
    "TraceTask",
    "baseline",
    "guarded",
    "judge",
    "trace",
]

logger = logging.getLogger(__name__)

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteTask:
    """A unit of work that begins with loading one cassette."""

    backend: Backend
    name: str
    """The name of the case, with its variant."""
    file: Path
    root: Path
    """The folder that the name is relative to."""
    trusted: bool = False
    """Whether the cassette may start processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTask(CassetteTask):
    """A cassette to run in both runtimes; a side can be `baseline:DIR` instead."""

    control: str
    candidate: str
    repeat: int = 1
    """Runs of each side. From 2 on, differences between runs of one side are reported apart."""
    phase: str | None = None
    """Skip the case unless its cassette belongs to this phase; `None` runs every phase."""
    contract: Path | None = None
    """The file of the behaviours that cassettes may declare; `None` checks no declarations."""
    core: tuple[Path, ...] = ()
    """Baselines of the published core: they show which findings of the provider rules it shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTask(CassetteTask):
    """A cassette to run in one runtime, and whose trace to write."""

    runtime: str
    out: Path | None = None
    """The folder for `<name>.json`; with `None` the result holds the text instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineTask(CassetteTask):
    """A cassette to run in one runtime, whose baseline to store or compare."""

    runtime: str
    out: Path
    """The folder of the baselines."""
    check: bool = False
    """Compare with the stored baseline, and write nothing."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """The case is not part of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A traced run. `doubt` is the reason why it does not count as observed, if there is one."""

    name: str
    text: str | None = None
    doubt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselined:
    """A run whose baseline was stored or compared.

    `doubt` is the reason why it does not count as observed, if there is one. `stale` lists the
    differences from the stored baseline. `remark` names changes that make no difference.
    """

    name: str
    doubt: str | None = None
    stale: tuple[str, ...] = ()
    remark: str | None = None


CaseOutcome = CaseResult | LoadProblem | Skipped
"""The possible outcomes of a case."""


def judge(task: CaseTask) -> CaseOutcome:
    """Run both sides and compare them; a failure of the case is an outcome, not an exception."""

    def compared(cassette: LoadedCassette) -> CaseResult | Skipped:
        if task.phase is not None and cassette.phase != task.phase:
            return Skipped()
        if _hands_over(task) and not task.backend.can_hand_over(cassette):
            return Skipped()
        stored = _stored(task, cassette)
        cassette, lost = task.backend.carried(cassette, (task.control, task.candidate))

        def observed(side: str) -> list[Observation]:
            if side in stored:
                return [stored[side]] * task.repeat
            runs = [task.backend.run(cassette, side) for _ in range(task.repeat)]
            # A run that is compared with a baseline's hashes must be hashed, too.
            return [projected(seen) for seen in runs] if stored else runs

        try:
            controls = observed(task.control)
        except Unplayable as refused:
            return _unplayable(task, cassette, str(refused), observed)
        candidates = observed(task.candidate)
        core = _core(task, [*controls, *candidates])
        as_written = not (_hands_over(task) or lost)
        facts = cassette if as_written else _Changed.of(cassette, controls[0])
        judged = compared_without_secrets(
            lambda these, those: compare_repeated(
                these, those, facts, core=core, shows_parity=True
            ),
            controls,
            candidates,
        )
        judged = replace(judged, phase=facts.phase, contract=tuple(facts.contract))
        return _declared(replace(judged, remarks=(*judged.remarks, *lost)), task)

    return guarded(task, compared, partial(CaseResult.undecided, task.name))


def _unplayable(
    task: CaseTask,
    cassette: LoadedCassette,
    reason: str,
    observed: Callable[[str], Sequence[Observation]],
) -> CaseResult:
    """Return the result of a case whose control cannot be played.

    If the candidate can be played, the runtimes differ in what they let the user do.
    """
    unplayable = False
    try:
        observed(task.candidate)
    except Unplayable as refused:
        unplayable = str(refused) == reason
    undecided = CaseResult.undecided(task.name, reason)
    return replace(undecided, phase=cassette.phase, unplayable=unplayable)


def _declared(result: CaseResult, task: CaseTask) -> CaseResult:
    """Return `result` with a remark for each declared behaviour that the runs did not show."""
    remarks = declared_remarks(result, _contract(task.contract))
    return replace(result, remarks=(*result.remarks, *remarks)) if remarks else result


@cache
def _contract(file: Path | None) -> Contract:
    """Read the contract, once in each process."""
    return load_contract(file)


@dataclass(frozen=True, slots=True)
class _Changed:
    """A cassette that is played in a way for which it was not written.

    After a handover the second engine lacks state of the first (which models failed, which tools
    were approved for good). Over another provider the answers are those that its format carries. So
    steps may stay unused; only whether both sides leave the same ones matters.
    """

    name: str
    unused: Collection[int]
    phase: str | None
    contract: Collection[str] = ()

    @classmethod
    def of(cls, cassette: LoadedCassette, control: Observation) -> _Changed:
        return cls(cassette.name, frozenset(control.unused_steps), cassette.phase)


def _hands_over(task: CaseTask) -> bool:
    return hands_over(task.control) or hands_over(task.candidate)


def _core(task: CaseTask, runs: Sequence[Observation]) -> CoreFindings:
    """Return the published core's findings, looked up only if a side has findings.

    The baselines of the published core record sessions that stay in one engine, without a surface
    and over the plain script.
    """
    sides = (task.control, task.candidate)
    otherwise = any(surface_name(side) or provider_name(side) for side in sides)
    if (
        otherwise
        or _hands_over(task)
        or not any(request.provider for seen in runs for request in seen.requests)
    ):
        return NOT_AT_HAND
    return known_core_findings(task.core, task.name, task.file)


def _stored(task: CaseTask, cassette: LoadedCassette) -> dict[str, Observation]:
    """Read the stored observations of the sides that are baselines, before anything runs."""
    folders = {side: baseline_folder(side) for side in (task.control, task.candidate)}
    # The path of a cassette names its baseline; its own name appears in divergences.
    return {
        side: replace(fitting_observation(folder, task.name, task.file), name=cassette.name)
        for side, folder in folders.items()
        if folder is not None
    }


def baseline(task: BaselineTask) -> Baselined | LoadProblem:
    """Run one side and store its baseline, or compare the two; a failure is an outcome."""

    def kept(cassette: LoadedCassette) -> Baselined:
        digest = cassette_digest(task.file)
        seen = task.backend.run(cassette, task.runtime)
        if seen.blocker is not None and not seen.hung:
            return not_observed(seen.paths.mask_text(f"{seen.runtime} {seen.blocker}"))
        fresh = Baseline.of(seen, task.name, digest)
        if task.check:
            stale, remark = staleness(task.out, fresh)
            return Baselined(name=task.name, stale=stale, remark=remark)
        write_baseline(task.out, fresh)
        return Baselined(name=task.name)

    def not_observed(reason: str) -> Baselined:
        return Baselined(name=task.name, doubt=reason)

    return guarded(task, kept, not_observed)


def trace(task: TraceTask) -> Observed | LoadProblem:
    """Run one side and write its trace; a failure of the case is an outcome."""

    def written(cassette: LoadedCassette) -> Observed:
        seen = task.backend.run(cassette, task.runtime)
        text = trace_json(seen)
        doubt = None if seen.blocker is None else f"{seen.runtime} {seen.blocker}"
        if task.out is None:
            return Observed(name=task.name, text=text, doubt=doubt)
        file = task.out / f"{task.name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
        return Observed(name=task.name, doubt=doubt)

    return guarded(task, written, lambda reason: Observed(name=task.name, doubt=reason))


def guarded(
    task: CassetteTask,
    act: Callable[[LoadedCassette], Outcome],
    undecided: Callable[[str], Outcome],
) -> Outcome | LoadProblem:
    """Load a task's cassette, in its variant, and call `act` with it; a failure is an outcome.

    Args:
        task: Names the cassette, and whether it is trusted.
        act: Makes the outcome of the loaded cassette.
        undecided: Makes the outcome of a case that failed, from the reason.

    Raises:
        UnusableSide: a runtime of the task cannot be used, for this case or any other.
    """
    try:
        cassette = task.backend.load(task.file, task.root)
        variant = variant_of(task.name)
        if variant is not None:
            cassette = task.backend.vary(cassette, variant)
    except CassetteError as error:
        return LoadProblem(file=str(task.file), message=str(error))
    except Exception as error:  # noqa: BLE001 - a bad file must not stop the other cases
        return LoadProblem(file=str(task.file), message=f"{task.file}: {_failed(task, error)}")
    try:
        reason = None if task.trusted else task.backend.starts_processes(cassette)
        if reason is not None:
            return undecided(f"not run: {reason}; give --trust if you trust the cassette")
        with confining(not task.trusted):
            return act(cassette)
    except UnusableRuntime as unusable:
        raise UnusableSide(unusable.problem, unusable.mend) from unusable
    except BaselineFormatError as error:
        return LoadProblem(file=str(error.file), message=str(error))
    except HarnessError as error:
        return undecided(str(error))
    except Exception as error:  # noqa: BLE001 - one case's failure must not stop the other cases
        return undecided(_failed(task, error))


def _failed(task: CassetteTask, error: Exception) -> str:
    logger.debug("the harness failed on %s", task.name, exc_info=error)
    return in_short(error)
