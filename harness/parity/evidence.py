"""`Evidence`: what a result says about its first cause, in the form that the rules ask for.

Everything comes from the result: its open divergences, its packed timelines, and the probes that
each side reached. Where a result was made without timelines or probes there is less to go by, and
fewer seams can be named.
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

__all__ = ["LONE", "Evidence"]

LONE: Final = frozenset({Kind.MISSING, Kind.EXTRA})
"""Kinds of a divergence whose item one side alone has."""

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
"""Errors of an answer that is none: how the model's stream was read decides about them."""
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
        """The row in which the first cause shows; `None` where there is no such row."""
        return _rows(self.timelines).get(self.index)

    @property
    def row(self) -> Row | None:
        """That row."""
        return None if self.at is None else self.timelines.rows[self.at]

    @property
    def before(self) -> Sequence[Row]:
        """What both sides had done by then, oldest first."""
        return () if self.at is None else self.timelines.rows[: self.at]

    @property
    def after(self) -> Sequence[Row]:
        """What came of it."""
        return () if self.at is None else self.timelines.rows[self.at + 1 :]

    @cached_property
    def beside(self) -> tuple[Divergence, ...]:
        """All that differs in the item of the first cause, that one first."""
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
        """The channels that differ openly."""
        return frozenset(found.channel for _, found in self.open if found.kind is not Kind.REPLAY)

    def of(self, channel: ChannelName) -> Iterator[Divergence]:
        """The open divergences of a channel."""
        return (found for _, found in self.open if found.channel is channel)

    @cached_property
    def text(self) -> str:
        """The differing values of the item, and what the rows say of it, as one text to search."""
        values = [
            json.dumps([found.control, found.candidate], ensure_ascii=False)
            for found in self.beside
        ]
        row = self.row
        sides = () if row is None else (row.control, row.candidate)
        return "\n".join([*values, *(side.line for side in sides if side is not None)])

    def says(self, sign: str) -> bool:
        """Whether `sign` stands in what differs: in a value, or in one side's line alone."""
        if any(sign in self._written(found) for found in self.beside):
            return True
        row = self.row
        sides = () if row is None else (row.control, row.candidate)
        return sum(side is not None and sign in side.line for side in sides) == 1

    def shows(self, sign: str) -> bool:
        """Whether the line of a question or a remembered turn that differs has `sign`."""
        row = self.row
        if row is None or row.kind not in (MomentKind.REQUEST, MomentKind.MEMORY):
            return False
        return any(side is not None and sign in side.line for side in (row.control, row.candidate))

    @staticmethod
    def _written(found: Divergence) -> str:
        return json.dumps([found.control, found.candidate], ensure_ascii=False)

    @property
    def shares_services(self) -> bool:
        """Whether both sides are given the same tools, policy, scheduler and reader of streams.

        Our own runtimes are; then none of those can be what differs between them.
        """
        return all(_OURS.issuperset(base_names(side)) for side in self.result.runtimes)

    def reached(self, *prefixes: str) -> bool:
        """Whether either side reached a probe that begins so."""
        return any(probe.startswith(prefixes) for side in self.result.reached for probe in side)

    def reached_once(self, *prefixes: str) -> bool:
        """Whether one side alone reached a probe that begins so."""
        here, there = (set(side) for side in self.result.reached)
        return any(probe.startswith(prefixes) for probe in here ^ there)

    @property
    def resumed(self) -> bool:
        """Whether a conversation was read back from a recording."""
        return self.reached("resume:") or self.about("resume")

    @property
    def shrinks(self) -> bool:
        """Whether the history is written anew before a question is put."""
        return self.reached("masking:", "compression:") or self.about("masking", "compression")

    def about(self, *families: str) -> bool:
        """Whether the cassette lies in one of these folders: what it was made to exercise."""
        return self.result.family.partition("/")[0] in families

    def value(self, channel: ChannelName, *words: str) -> bool:
        """Whether an open divergence of a channel holds one of `words` on either side."""
        written = (self._written(found) + found.label for found in self.of(channel))
        return any(word in text for text in written for word in words)

    def fields(self, side: int) -> dict[str, Any] | None:
        """The first cause's item on one side as it is compared, as far as it was kept."""
        row = self.row
        moment = None if row is None else (row.control, row.candidate)[side]
        return None if moment is None else moment.fields

    @property
    def read_otherwise(self) -> bool:
        """Whether one side alone took an answer for none, or found another fault with it."""
        announced = [
            side.line
            for row in self.earlier(MomentKind.RETRY)
            if not row.divergences
            for side in (row.control, row.candidate)
            if side is not None
        ]
        return any(
            error in self._written(found) and not any(error in line for line in announced)
            for found in self.of(ChannelName.RETRIES)
            if found.sort == "retry" and found.kind in LONE
            for error in _INVALID_ANSWERS
        )

    @cached_property
    def events_before(self) -> tuple[Divergence, ...]:
        """Differences in what the client received before the first cause."""
        found = (
            self.result.divergences[index]
            for row in self.before
            for index in row.divergences
            if index not in self.result.waived
        )
        return tuple(each for each in found if each.channel is ChannelName.EVENTS)

    @property
    def ended_otherwise(self) -> bool:
        """Whether the client saw another end of a stream before the first cause."""
        return any(found.label == "agent_end" for found in self.events_before)

    @property
    def failed_once(self) -> bool:
        """Whether one side alone emitted an error."""
        events = self.of(ChannelName.EVENTS)
        return any(found.label == "error" and found.kind in LONE for found in events)

    @property
    def went_otherwise(self) -> bool:
        """Whether the client saw something else happen, not only in other words.

        What is kept at the end follows from that.
        """
        return any(
            found.kind in LONE or found.label == "agent_end"
            for found in self.of(ChannelName.EVENTS)
        )

    def earlier(self, *kinds: MomentKind) -> list[Row]:
        """The rows of these kinds before the first cause, within the same stream of events."""
        found: list[Row] = []
        for row in reversed(self.before):
            if row.kind in kinds:
                found.append(row)
            moment = row.control or row.candidate
            if moment is not None and moment.line == "emitted agent_start":
                break
        return found


def _rows(timelines: Timelines) -> dict[int, int]:
    rows: dict[int, int] = {}
    for number, row in enumerate(timelines.rows):
        for index in row.divergences:
            rows.setdefault(index, number)
    return rows
