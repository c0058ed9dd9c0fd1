"""Says of a run with a mutant in force whether it shows the mutant.

A mutant of a runtime must show between legacy and adk, one of the services against the published
core's baselines or, since both runtimes have it, between the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from typing import Final

from harness.cassette.find import CassetteFile
from harness.detection.finding import crashed, difference
from harness.detection.good import Corpus, CorpusCase, Leg
from harness.detection.playing import Seen
from harness.errors import HarnessError
from harness.faults.catalogue import CatalogueAt
from harness.http.case import load_found
from harness.mutants.forked import Gone, Raised
from harness.mutants.result import Finding, Outcome
from harness.mutants.store import Kept
from harness.parity.compare import compare
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.replay.observation import Observation

__all__ = ["Judge", "Judged", "StoredCase"]

_SHOWN = 300
_OTHER_BASELINE: Final = (
    "its good run differs from the published core's baseline; `parity run` says why, for example a "
    "temporary folder (TMPDIR) of another length"
)
_NO_FAULTS: Final = CatalogueAt("builtins:dict")
"""A mutant is no fault of the catalogue: calls of what faults wrap are not noted."""


class StoredCase(CorpusCase):
    """A case whose good runs were kept before."""

    def __init__(
        self, file: CassetteFile, waivers: Waivers, *, kept: Kept, baselines: Path | None
    ) -> None:
        """Load the cassette.

        Raises:
            HarnessError: it cannot be used any more.
        """
        corpus = Corpus(
            catalogue=_NO_FAULTS,
            files=(file,),
            trusted=frozenset(),
            waivers=waivers,
            kept=kept.folder,
            baselines=baselines,
        )
        super().__init__(load_found(file), file, corpus)
        self._good = kept

    def run(self, runtime: str) -> Seen:
        """The run that was kept."""
        return self._good.seen(runtime)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run says of a mutant. Neither of both: it shows nothing."""

    finding: Finding | None = None
    left_out: str = ""
    """Why the case can show nothing, or less than it should, whatever the mutant does."""


@dataclass(slots=True, kw_only=True)
class Judge:
    """Judges the runs of one mutant.

    Attributes:
        owner: `legacy`, `adk` or `services`: what the mutant is of.
        waivers: those in force.
        baselines: the published core's, where there are any.
    """

    owner: str
    waivers: Waivers
    baselines: Path | None
    changed: dict[str, Seen] = field(default_factory=dict)
    """Case to a run of legacy that differs from the good one in what no comparison shows."""

    def look(
        self,
        file: CassetteFile,
        runtime: str,
        run: Seen | Gone | Raised,
        *,
        kept: Kept,
        good_digest: str,
        both: bool,
    ) -> Judged:
        """Judge a run.

        Args:
            file: The case.
            runtime: The runtime that ran it.
            run: What it did.
            kept: Where the case's good runs are.
            good_digest: Digest of the runtime's good run.
            both: The other runtime executes the mutant in this case, too.
        """
        as_before = isinstance(run, Seen) and run.digest == good_digest
        if as_before and (runtime == "legacy" or file.name not in self.changed):
            return Judged()
        try:
            case = StoredCase(file, self.waivers, kept=kept, baselines=self.baselines)
            return self._differing(case, file.name, runtime, run, both=both)
        except HarnessError as error:
            return Judged(left_out=str(error))
        except JSONDecodeError as error:
            # The mutant made a value that the baselines' form, JSON, cannot hold.
            return Judged(_crash(file.name, runtime, f"what it did is no JSON: {error}"))

    def _differing(
        self, case: StoredCase, name: str, runtime: str, run: Seen | Gone | Raised, *, both: bool
    ) -> Judged:
        agree = {leg: _at_parity(case, leg) for leg in self._legs(runtime)}
        legs = [leg for leg, at_parity in agree.items() if at_parity]
        if not legs:
            return Judged(left_out="the good runtimes do not agree on it")
        if isinstance(run, Gone):
            how = Outcome.TIME_LIMIT if run.over_time else Outcome.CRASH
            words = "it was over its limits" if run.over_time else "its process ended"
            return Judged(Finding(case=name, runtime=runtime, by=how, place=words))
        if isinstance(run, Raised):
            return Judged(_crash(name, runtime, run.says))
        was = case.run(runtime).observation
        finding = _ended(name, runtime, run.observation, was)
        if finding is not None:
            return Judged(finding)
        for result in self._results(case, name, runtime, run, legs, both=both):
            if result.verdict is not CaseVerdict.PARITY:
                return Judged(_differs(name, runtime, result))
        if runtime == "legacy":
            self.changed[name] = run
        return Judged(left_out=_OTHER_BASELINE if agree.get(Leg.PUBLISHED) is False else "")

    def _legs(self, runtime: str) -> list[Leg]:
        """The comparisons in which a run of a runtime can show the mutant."""
        if self.owner != "services":
            return [Leg(self.owner)]
        own = Leg.LEGACY if runtime == "legacy" else Leg.ADK
        return [Leg.PUBLISHED, own] if runtime == "legacy" else [own]

    def _results(
        self,
        case: StoredCase,
        name: str,
        runtime: str,
        run: Seen,
        legs: list[Leg],
        *,
        both: bool,
    ) -> Iterator[CaseResult]:
        """Yield the comparisons, one after the other."""
        for leg in legs:
            if self.owner != "services" or leg is Leg.PUBLISHED:
                yield case.result(leg, run.observation)
            elif leg is Leg.ADK and name in self.changed:
                yield self._between(case, self.changed[name].observation, run.observation)
            elif leg is Leg.ADK or not both:
                # Of a mutant in both runtimes adk's own run says more, and comes later.
                yield case.result(leg, run.observation)

    def _between(
        self, case: StoredCase, control: Observation, candidate: Observation
    ) -> CaseResult:
        """Both runtimes with the mutant, compared."""
        core = case.core((control, candidate))
        return compare(control, candidate, case.facts(), self.waivers, core=core)


def _at_parity(case: StoredCase, leg: Leg) -> bool | None:
    """Whether the good runs agree; `None` where there is nothing to compare with."""
    try:
        return case.at_parity(leg)
    except HarnessError:
        return None


def _ended(name: str, runtime: str, run: Observation, was: Observation) -> Finding | None:
    """The finding of a run that did not come to its end, or in which code failed."""
    if run.hung and not was.hung:
        error = run.paths.mask_text(run.error or "it hung")
        return Finding(case=name, runtime=runtime, by=Outcome.TIME_LIMIT, place=error[:_SHOWN])
    reason = crashed(run, was)
    return None if reason is None else _crash(name, runtime, run.paths.mask_text(reason))


def _differs(name: str, runtime: str, result: CaseResult) -> Finding:
    shown = difference(result, 0)
    return Finding(
        case=name,
        runtime=runtime,
        by=Outcome.FOUND,
        channel=shown.channel,
        place=shown.place,
        says=shown.says,
    )


def _crash(name: str, runtime: str, error: str) -> Finding:
    return Finding(case=name, runtime=runtime, by=Outcome.CRASH, place=error[:_SHOWN])
