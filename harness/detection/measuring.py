"""One fault against the corpus: the unit of work that a worker process is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from harness.cassette.find import CassetteFile
from harness.detection.catalogue_at import CatalogueAt
from harness.detection.families import own_first
from harness.detection.finding import CaseOutcome, Found, look
from harness.detection.found_before import first_of_all
from harness.detection.good import CorpusCase, leg_of
from harness.detection.reach import Wrapped, all_targets, wrapped_by
from harness.errors import HarnessError
from harness.experiment.announcing import case_begins
from harness.experiment.backend import LoadedCassette, real_backend
from harness.http.case import load_case
from harness.parity.waivers import Waivers
from harness.replay.confining import confining
from seeded_faults import Fault

__all__ = ["CorpusTask", "Measured", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusTask:
    """One fault to look for in the corpus."""

    fault: str
    catalogue: CatalogueAt
    files: tuple[CassetteFile, ...]
    trusted: frozenset[str]
    """Names of the cassettes that may start processes."""
    waivers: Waivers
    kept: Path
    """Folder of the good runs, shared by all workers."""
    baselines: Path | None
    """Folder of the published core's baselines."""

    @property
    def name(self) -> str:
        """For progress and for a worker that died in it."""
        return self.fault


@dataclass(slots=True, kw_only=True)
class Measured:
    """What came of looking for one fault."""

    fault: str
    found: Found | None = None
    met: int = 0
    """Cases that were run with the fault in force."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Cassette to the reason why it could show nothing."""
    unsteady: list[str] = field(default_factory=list)
    """Cassettes that showed something once, and not when looked at again."""
    untouched: int = 0
    """Cases that call nothing of what the fault wraps: nothing can happen there."""

    @property
    def never(self) -> bool:
        """What the fault wraps was never called: it did not survive, it was not there."""
        return self.met == 0 and self.untouched > 0

    def note(self, cassette: str, outcome: CaseOutcome) -> None:
        """Take in what became of one case."""
        self.met += not outcome.untouched and outcome.left_out is None
        self.untouched += outcome.untouched
        self.found = outcome.found
        if outcome.left_out is not None:
            self.left_out[cassette] = outcome.left_out
        if outcome.unsteady:
            self.unsteady.append(cassette)


def measure(task: CorpusTask) -> Measured:
    """Look for the fault up to the first finding.

    What found it in an earlier measurement comes first, then the cassettes of its own class.
    """
    fault = task.catalogue.faults()[task.fault]
    wrapped = wrapped_by(fault)
    done = Measured(fault=fault.name)
    for file in first_of_all(fault.name, own_first(task.files, fault.behaviour)):
        done.note(file.name, _case(task, fault, wrapped, file, done.met + 1))
        if done.found is not None:
            break
    return done


def _case(
    task: CorpusTask, fault: Fault, wrapped: Wrapped, file: CassetteFile, met: int
) -> CaseOutcome:
    case_begins()
    try:
        cassette = _loaded(file)
        reason = None if file.name in task.trusted else real_backend().starts_processes(cassette)
        if reason is not None:
            return CaseOutcome(left_out=f"not run: {reason}; give --trust if you trust it")
        good = CorpusCase(
            cassette,
            task.waivers,
            name=file.name,
            file=file.path,
            kept=task.kept,
            baselines=task.baselines,
            noting=all_targets(task.catalogue),
        )
        with confining(file.name not in task.trusted):
            return look(fault, leg_of(fault), good, met, wrapped)
    except HarnessError as error:
        return CaseOutcome(left_out=str(error))


@lru_cache(maxsize=2048)
def _loaded(file: CassetteFile) -> LoadedCassette:
    return load_case(file.path, file.root)
