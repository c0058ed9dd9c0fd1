"""`Evidence`: the facts about a first cause that the seam rules read.

They come from the result's open divergences, its timelines, and the probes that each side reached.
Without timelines or probes fewer seams can be named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.sides import base_names
from harness.timeline.model import MomentKind, Row, Timelines

__all__ = ["LONE", "Evidence", "lines_of"]

LONE: Final = frozenset({Kind.MISSING, Kind.EXTRA})
"""Kinds of divergences whose item only one side has."""

_INVALID_ANSWERS: Final = (
    "NO_FINISH_REASON",
    "NO_RESPONSE_TEXT",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "THINKING_ONLY_RESPONSE",
    "MAX_TOKENS_EXCEEDED",
    "SAFETY_BLOCKED",
    "RECITATION_BLOCKED",
    "OTHER_BLOCKED",
)
"""Errors of invalid answers: which one is reported depends on the reader of the stream."""
_OURS: Final = frozenset({"legacy", "adk"})


@dataclass(frozen=True)
class Evidence:
    """A result with its first cause. `index` counts in `CaseResult.divergences`."""

    result: CaseResult
    timelines: Timelines
    index: int

    @property
    def first(self) -> Divergence:
        """The first cause."""
        return self.result.divergences[self.index]

    @cached_property
    def open(self) -> tuple[tuple[int, Divergence], ...]:
        """Every divergence that no waiver covers, with its index."""
        return tuple(
            (index, found)
            for index, found in enumerate(self.result.divergences)
            if index not in self.result.waived
        )

    @cached_property
    def at(self) -> int | None:
        """The number of the row that shows the first cause; `None` without such a row."""
        rows = enumerate(self.timelines.rows)
        return next((number for number, row in rows if self.index in row.divergences), None)

    @property
    def row(self) -> Row | None:
        """The row that shows the first cause."""
        return None if self.at is None else self.timelines.rows[self.at]

    @property
    def before(self) -> Sequence[Row]:
        """The rows before it, oldest first."""
        return () if self.at is None else self.timelines.rows[: self.at]

    @property
    def after(self) -> Sequence[Row]:
        """The rows after it."""
        return () if self.at is None else self.timelines.rows[self.at + 1 :]

    @cached_property
    def beside(self) -> tuple[Divergence, ...]:
        """Every divergence in the item of the first cause, the first cause first."""
        key = (self.first.channel, self.first.control_index, self.first.candidate_index)
        if self.first.kind is not Kind.CHANGED:
            return (self.first,)
        others = (
            found
            for index, found in self.open
            if index != self.index
            and found.kind is Kind.CHANGED
            and (found.channel, found.control_index, found.candidate_index) == key
        )
        return (self.first, *others)

    @cached_property
    def channels(self) -> frozenset[ChannelName]:
        """The channels with open divergences."""
        return frozenset(found.channel for _, found in self.open if found.kind is not Kind.REPLAY)

    def of(self, channel: ChannelName) -> Iterator[Divergence]:
        """The open divergences of a channel."""
        return (found for _, found in self.open if found.channel is channel)

    @cached_property
    def text(self) -> str:
        """The differing values of the item and its lines, as one text to search."""
        return "\n".join([*map(self._written, self.beside), *self._lines])

    def says(self, sign: str) -> bool:
        """Whether a differing value contains `sign`, or only one side's line does."""
        if any(sign in self._written(found) for found in self.beside):
            return True
        return sum(sign in line for line in self._lines) == 1

    def shows(self, sign: str) -> bool:
        """Whether the line of a differing request or transcript turn contains `sign`."""
        kind = None if self.row is None else self.row.kind
        known = kind in (MomentKind.REQUEST, MomentKind.MEMORY)
        return known and any(sign in line for line in self._lines)

    @property
    def _lines(self) -> list[str]:
        """The lines of the first cause's row."""
        return [] if self.row is None else lines_of(self.row)

    @staticmethod
    def _written(found: Divergence) -> str:
        return json.dumps([found.control, found.candidate], ensure_ascii=False)

    @property
    def shares_services(self) -> bool:
        """Whether both sides use the same tools, policy, scheduler and stream reader.

        Our own runtimes do; then none of those can be the cause.
        """
        return all(_OURS.issuperset(base_names(side)) for side in self.result.runtimes)

    def reached(self, *prefixes: str) -> bool:
        """Whether a side reached a probe with one of these prefixes."""
        return any(probe.startswith(prefixes) for side in self.result.reached for probe in side)

    def reached_once(self, *prefixes: str) -> bool:
        """Whether only one side reached some probe with one of these prefixes."""
        here, there = (set(side) for side in self.result.reached)
        return any(probe.startswith(prefixes) for probe in here ^ there)

    @property
    def resumed(self) -> bool:
        """Whether a conversation was resumed from a recording."""
        return self.reached("resume:") or self.about("resume")

    @property
    def shrinks(self) -> bool:
        """Whether masking or compression rewrites the history before a request."""
        return self.reached("masking:", "compression:") or self.about("masking", "compression")

    def about(self, *families: str) -> bool:
        """Whether the cassette belongs to one of these families."""
        return self.result.family.partition("/")[0] in families

    def value(self, channel: ChannelName, *words: str) -> bool:
        """Whether an open divergence of a channel contains one of `words` on either side."""
        written = (self._written(found) + found.label for found in self.of(channel))
        return any(word in text for text in written for word in words)

    def fields(self, side: int) -> dict[str, Any] | None:
        """The compared item of the first cause on one side, as far as the timeline kept it."""
        row = self.row
        moment = None if row is None else (row.control, row.candidate)[side]
        return None if moment is None else moment.fields

    @property
    def read_otherwise(self) -> bool:
        """Whether only one side took an answer as invalid, or for another reason."""
        retries = self.earlier(MomentKind.RETRY)
        announced = [line for row in retries if not row.divergences for line in lines_of(row)]
        return any(
            error in self._written(found) and not any(error in line for line in announced)
            for found in self.of(ChannelName.RETRIES)
            if found.sort == "retry" and found.kind in LONE
            for error in _INVALID_ANSWERS
        )

    @cached_property
    def events_before(self) -> tuple[Divergence, ...]:
        """Open divergences of events before the first cause."""
        found = (
            self.result.divergences[index]
            for row in self.before
            for index in row.divergences
            if index not in self.result.waived
        )
        return tuple(each for each in found if each.channel is ChannelName.EVENTS)

    @property
    def ended_otherwise(self) -> bool:
        """Whether the end of a stream differs before the first cause."""
        return any(found.label == "agent_end" for found in self.events_before)

    @property
    def failed_once(self) -> bool:
        """Whether only one side emitted an error."""
        events = self.of(ChannelName.EVENTS)
        return any(found.label == "error" and found.kind in LONE for found in events)

    @property
    def went_otherwise(self) -> bool:
        """Whether events are missing or extra, or the end differs: more than their values."""
        return any(
            found.kind in LONE or found.label == "agent_end"
            for found in self.of(ChannelName.EVENTS)
        )

    def earlier(self, *kinds: MomentKind) -> list[Row]:
        """The rows of these kinds before the first cause in its stream of events, last first."""
        found: list[Row] = []
        for row in reversed(self.before):
            if row.kind in kinds:
                found.append(row)
            moment = row.control or row.candidate
            if moment is not None and moment.line == "emitted agent_start":
                break
        return found


def lines_of(row: Row) -> list[str]:
    """The lines of both sides of a row, where they have one."""
    return [side.line for side in (row.control, row.candidate) if side is not None]
