"""What a folder of recordings is good for: counts per set, and why the rest is not replayed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from harness.http.exchanges import HttpRecording, SkippedRecording
from harness.http.vcr_cassettes import load_recordings

__all__ = ["SetSurvey", "survey"]


@dataclass(slots=True)
class SetSurvey:
    """One set: a folder right below the one that was surveyed."""

    replayable: list[str] = field(default_factory=list)
    """Files, relative to the set's folder; likewise in the next two."""
    streamed: list[str] = field(default_factory=list)
    """Those with an answer that was recorded as a stream."""
    tool_loops: list[str] = field(default_factory=list)
    """Those in which the model asked for a tool and was asked again."""
    exchanges: int = 0
    translated: int = 0
    """Of the exchanges, those served as a stream though they were not recorded as one."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why whole files are skipped."""
    partly: Counter[str] = field(default_factory=Counter)
    """Why exchanges of replayable files are skipped."""

    @property
    def files(self) -> int:
        """All files of the set."""
        return len(self.replayable) + self.reasons.total()


def survey(folder: Path) -> dict[str, SetSurvey]:
    """Load everything under `folder` and count; keys are the names of its sub-folders."""
    loaded, skipped = load_recordings(folder)
    items: list[HttpRecording | SkippedRecording] = [*loaded, *skipped]
    sets: dict[str, SetSurvey] = {}
    for item in items:
        set_name, _, rest = item.file.relative_to(folder).as_posix().partition("/")
        _count(sets.setdefault(set_name, SetSurvey()), rest or set_name, item)
    return dict(sorted(sets.items()))


def _count(found: SetSurvey, name: str, item: HttpRecording | SkippedRecording) -> None:
    if isinstance(item, SkippedRecording):
        found.reasons[item.reason] += 1
        return
    found.replayable.append(name)
    found.exchanges += len(item.exchanges)
    found.translated += sum(exchange.translated for exchange in item.exchanges)
    found.partly.update(item.skipped)
    if item.streamed:
        found.streamed.append(name)
    if item.tool_loop:
        found.tool_loops.append(name)
