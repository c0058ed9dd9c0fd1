"""Runs a finding again, by itself, to see whether it is steady.

If the control differs from itself the finding is noise and decides nothing. If only the candidate
does, that is the finding, with its rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.errors import HarnessError, in_short
from harness.faults.force import in_force
from harness.parity.compare import compare_repeated
from harness.parity.divergence import Kind
from harness.parity.verdict import CaseResult
from harness.parity.waivers import settle
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.scenarios.generation import Again, Outcome
from harness.scenarios.judging import Judging, fault_named
from services.wire import JsonObject

__all__ = ["AgainTask", "judged_again", "run_again"]

_RUNS: Final = 5
"""How often each side runs."""
_ROOT: Final = Path("generated")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainTask:
    """A finding to run again."""

    document: JsonObject
    fingerprint: str
    result: CaseResult
    """The result when it was found."""
    how: Judging

    @property
    def name(self) -> str:
        """For messages about a worker that died."""
        return self.fingerprint


def run_again(task: AgainTask) -> Outcome:
    """Run a finding once more, then each side several times, to find an unsteady side.

    A finding that comes again at once counts, unless the control differs from itself.
    """
    once = task.how.judge_or_say(task.document)
    came = once.fingerprint == task.fingerprint
    if task.how.cuts is not None:
        if came:
            return Outcome(again=Again.CAME, result=once.result)
        reason = "it did not come again over a socket, whose borders between reads vary"
        return Outcome(again=Again.GONE, result=_blocked(once.result, reason), remark=reason)
    try:
        more = _compared(task, _RUNS)
        if came and not more.noise:
            return Outcome(again=Again.CAME, result=once.result)
        return judged_again(task, more, _RUNS)
    except FormatProblem as problem:
        reason = f"what was drawn is no cassette: {problem}"
    except HarnessError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - an error in one finding must not stop the others
        reason = in_short(error)
    result = CaseResult.undecided(task.result.cassette, reason)
    return Outcome(again=Again.GONE, result=result, remark=reason)


def judged_again(task: AgainTask, again: CaseResult, runs: int) -> Outcome:
    """Judge a finding that did not come again at once.

    `again` is the comparison of `runs` more runs of each side. The run that found it is known by
    its digest.
    """
    control, candidate = task.how.control, task.how.candidate
    if again.noise:
        remark = f"{control} differs from itself over {runs} runs: noise"
        return Outcome(again=Again.NOISE, result=again, remark=remark)
    if any(found.kind is Kind.NONDETERMINISTIC for found in again.open):
        remark = f"{candidate} differs from itself over {runs} runs, {control} does not"
        return Outcome(again=Again.NONDETERMINISTIC, result=again, remark=remark)
    unsteady = [
        before != now for before, now in zip(task.result.digests, again.digests, strict=True)
    ]
    if "" in (*task.result.digests, *again.digests):
        unsteady = [False, False]
    rate = f"1 of {runs + 1} runs"
    if unsteady[0]:
        reason = f"{control} differs from itself: in {rate} it did something else"
        return Outcome(again=Again.NOISE, result=_blocked(again, reason), remark=reason)
    if unsteady[1]:
        remark = f"{candidate} alone differs from itself: in {rate} it did what was found"
        found = tuple(replace(each, kind=Kind.NONDETERMINISTIC) for each in task.result.divergences)
        return Outcome(
            again=Again.NONDETERMINISTIC,
            result=replace(task.result, divergences=found, waived={}),
            remark=remark,
        )
    reason = f"it did not come again in {runs} runs of each side"
    return Outcome(again=Again.GONE, result=_blocked(again, reason), remark=reason)


def _compared(task: AgainTask, runs: int) -> CaseResult:
    """Compare `runs` runs of each side."""
    how, document = task.how, task.document
    cassette = build_cassette(document, _ROOT / f"{document['name']}.yaml", _ROOT)
    fault = fault_named(how.fault)

    def observed(side: str) -> list[Observation]:
        with in_force(fault, side):
            return [run_cassette(cassette, side) for _ in range(runs)]

    judged = compare_repeated(observed(how.control), observed(how.candidate), cassette)
    return settle([judged], how.waivers)[0][0]


def _blocked(result: CaseResult, reason: str) -> CaseResult:
    return replace(result, blockers=(*result.blockers, reason))
