"""What a run over cases has come to so far: listeners that count, and one that ends the run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.errors import LoadProblem
from harness.experiment.case import CaseOutcome, CaseTask, Skipped
from harness.experiment.events import CaseFinished, Event, RunFinished, StopRun
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers, settle
from harness.report.journal import JournalRecord

__all__ = ["CaseEvent", "Failures", "Tally"]

CaseEvent = Event[CaseTask, CaseOutcome]


@dataclass(slots=True)
class Tally:
    """The outcomes of a run, by cassette. A listener."""

    results: dict[str, CaseResult] = field(default_factory=dict)
    problems: dict[str, LoadProblem] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    took_ms: dict[str, float] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    """The cases among `results` that come from workers of this run, and not from its journal."""
    interrupted: bool = False

    @classmethod
    def after(cls, record: JournalRecord | None) -> Tally:
        """The tally with which a run resumes a journal."""
        if record is None:
            return cls()
        return cls(
            dict(record.finished),
            dict(record.problems),
            set(record.skipped),
            dict(record.took_ms),
        )

    def __call__(self, event: CaseEvent) -> None:
        """Count one event."""
        match event:
            case CaseFinished(task, result, took_ms):
                if isinstance(result, Skipped):
                    self.skipped.add(task.name)
                elif isinstance(result, LoadProblem):
                    self.problems[task.name] = result
                else:
                    self.results[task.name] = result
                    self.fresh.add(task.name)
                if took_ms is not None:
                    self.took_ms[task.name] = round(took_ms, 1)  # as a journal keeps it
            case RunFinished(interrupted=interrupted):
                self.interrupted = interrupted
            case _:
                pass

    def has(self, name: str) -> bool:
        """Whether that case has an outcome."""
        return name in self.results or name in self.problems or name in self.skipped


class Failures:
    """Counts the cases that diverge by the waivers, as far as the run has come. A listener.

    Args:
        waivers: The accepted differences. Their counts hold over the whole run.
        tally: The outcomes of a journal that the run resumes.
        most: Divergent cases after which `stop` ends the run; `None` for no limit.
    """

    def __init__(self, waivers: Waivers, tally: Tally, most: int | None) -> None:
        self._waivers = waivers
        self._most = most
        self._counts = {waiver.id: waiver.max_count for waiver in waivers.live}
        self._used: Counter[str] = Counter()
        self.verdicts: dict[str, CaseVerdict] = {}
        """The verdicts of this run's own cases, by name."""
        for result in tally.results.values():
            self._settled(result)

    def __call__(self, event: CaseEvent) -> None:
        """Settle a finished case."""
        if isinstance(event, CaseFinished) and isinstance(event.result, CaseResult):
            self.verdicts[event.task.name] = self._settled(event.result)

    def stop(self, event: CaseEvent) -> None:
        """The last listener: ends a run in which enough cases diverge."""
        if isinstance(event, CaseFinished) and self._most is not None and self.count >= self._most:
            raise StopRun

    @property
    def count(self) -> int:
        """Divergent cases of this run alone."""
        return sum(each is CaseVerdict.DIVERGENT for each in self.verdicts.values())

    def _settled(self, result: CaseResult) -> CaseVerdict:
        """The verdict of one more case. A waiver that exceeds its count covers nothing more."""
        settled = settle([result], self._waivers)[0][0]
        self._used.update(settled.waived.values())
        if any(self._used[each] > self._counts[each] for each in settled.waived.values()):
            return CaseVerdict.DIVERGENT
        return settled.verdict
