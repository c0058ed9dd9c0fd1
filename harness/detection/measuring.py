"""Look for one fault in the corpus: the task of a worker process."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from harness.cassette.find import CassetteFile
from harness.detection.families import own_first
from harness.detection.finding import CaseOutcome, Found, look
from harness.detection.found_before import first_of_all
from harness.detection.good import Corpus, CorpusCase, leg_of
from harness.detection.reach import Wrapped, wrapped_by
from harness.errors import HarnessError
from harness.experiment.announcing import case_begins
from harness.experiment.backend import LoadedCassette, real_backend
from harness.http.case import load_case
from harness.replay.confining import confining
from seeded_faults import Fault

__all__ = ["CorpusTask", "Measured", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusTask:
    """One fault to look for in the corpus."""

    fault: str
    corpus: Corpus

    @property
    def name(self) -> str:
        """The name of the task in messages."""
        return self.fault


@dataclass(slots=True, kw_only=True)
class Measured:
    """The result of looking for one fault."""

    fault: str
    found: Found | None = None
    met: int = 0
    """Cases that were run with the fault in force."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Cassette to the reason why it could show nothing."""
    unsteady: list[str] = field(default_factory=list)
    """Cassettes in which a second look did not confirm the finding."""
    untouched: int = 0
    """Cases that call nothing that the fault wraps."""

    @property
    def never(self) -> bool:
        """No case called what the fault wraps, so that nothing could find it."""
        return self.met == 0 and self.untouched > 0

    def note(self, cassette: str, outcome: CaseOutcome) -> None:
        """Add the outcome of one case."""
        self.met += not outcome.untouched and outcome.left_out is None
        self.untouched += outcome.untouched
        self.found = outcome.found
        if outcome.left_out is not None:
            self.left_out[cassette] = outcome.left_out
        if outcome.unsteady:
            self.unsteady.append(cassette)


def measure(task: CorpusTask) -> Measured:
    """Look for the fault up to the first finding.

    The cassette that found it in an earlier measurement comes first, then those of its class.
    """
    fault = task.corpus.catalogue.faults()[task.fault]
    wrapped = wrapped_by(fault)
    done = Measured(fault=fault.name)
    for file in first_of_all(fault.name, own_first(task.corpus.files, fault.behaviour)):
        done.note(file.name, _case(task.corpus, fault, wrapped, file, done.met + 1))
        if done.found is not None:
            break
    return done


def _case(
    corpus: Corpus, fault: Fault, wrapped: Wrapped, file: CassetteFile, met: int
) -> CaseOutcome:
    case_begins()
    trusted = file.name in corpus.trusted
    try:
        cassette = _loaded(file)
        reason = None if trusted else real_backend().starts_processes(cassette)
        if reason is not None:
            return CaseOutcome(left_out=f"not run: {reason}; give --trust if you trust it")
        good = CorpusCase(cassette, file, corpus)
        with confining(not trusted):
            return look(fault, leg_of(fault), good, met, wrapped)
    except HarnessError as error:
        return CaseOutcome(left_out=str(error))


@lru_cache(maxsize=2048)
def _loaded(file: CassetteFile) -> LoadedCassette:
    return load_case(file.path, file.root)
