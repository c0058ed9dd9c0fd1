"""Builds the timelines of two runs: aligned as they were compared, each moment on one line.

Differing items keep their fields. Long runs lose rows far from any difference, so that the
timelines fit into one line of a journal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from harness.parity.align import Pair
from harness.parity.causes import IN_TIME, first_cause_at, in_order
from harness.parity.channel_diff import Aligned
from harness.parity.channels import CHANNELS, channel_of
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.side_by_side.order import Place, Placed, merged, moments_of
from harness.parity.side_by_side.side import Side
from harness.replay.observation import Observation
from harness.timeline.model import Moment, MomentKind, Row, Timelines, pack
from harness.timeline.words import one_line
from services.wire import JsonObject

__all__ = ["packed_timelines"]

MOST_ROWS: Final = 400
_MOST_PACKED: Final = 64 * 1024
_SIZES: Final = ((MOST_ROWS, 500), (200, 240), (80, 120), (40, 0))
"""Limits on rows, and on characters of a text in the fields: the first that fits is used. With a
limit of 0 rows have no fields."""

_MOST_CAUSES: Final = 500
_MOST_PICTURES: Final = 2
"""How many rows of a case keep the pictures of their items."""


def packed_timelines(
    control: Observation,
    candidate: Observation,
    divergences: Sequence[Divergence],
    aligned: Mapping[ChannelName, Aligned],
) -> str:
    """Two runs' timelines without secrets, packed into at most 64 KB.

    `aligned` has the channels that were projected; items of the others are equal and paired by
    position.
    """
    builder = _Builder(control, candidate, divergences, aligned)
    if builder.suspects():
        builder = _Builder(control, candidate, divergences, aligned, clean=True)
    packed = ""
    for rows, room in _SIZES:
        packed = pack(builder.build(rows, room))
        if len(packed) <= _MOST_PACKED:
            break
    return packed


class _Builder:
    def __init__(
        self,
        control: Observation,
        candidate: Observation,
        divergences: Sequence[Divergence],
        aligned: Mapping[ChannelName, Aligned],
        *,
        clean: bool = False,
    ) -> None:
        self._divergences = divergences
        self._made: dict[tuple[int, int], Timelines] = {}
        self._sides = (
            Side(control, aligned, 0, clean=clean),
            Side(candidate, aligned, 1, clean=clean),
        )
        pairs: dict[ChannelName, Sequence[Pair]] = {
            channel.name: aligned[channel.name].pairs
            if channel.name in aligned
            else self._by_position(channel.name)
            for channel in CHANNELS
            if channel.remarks_on is None
        }
        found = _found_at(divergences)
        here, there = (
            moments_of(seen, side.lengths)
            for seen, side in zip((control, candidate), self._sides, strict=True)
        )
        self._causes = in_order(divergences, (_times(control, here), _times(candidate, there)))[
            :_MOST_CAUSES
        ]
        self._rows: list[Placed] = []
        for placed in merged(
            here,
            there,
            pairs,
            by_candidate=bool(candidate.order and not control.order),
        ):
            self._rows.append(placed)
            channel, a, b = placed
            self._rows.extend(_remarks(found, channel, a, b))
        known = set(self._rows)
        self._rows.extend(placed for placed in found if placed not in known)
        self._found = found

    def _by_position(self, channel: ChannelName) -> list[Pair]:
        here, there = (side.lengths[channel] for side in self._sides)
        both: list[Pair] = [(number, number) for number in range(min(here, there))]
        both.extend((number, None) for number in range(there, here))
        both.extend((None, number) for number in range(here, there))
        return both

    def suspects(self) -> bool:
        """Whether the timelines may contain a secret."""
        rows = self.build(*_SIZES[0]).rows
        here = [row.control.line for row in rows if row.control is not None]
        there = [row.candidate.line for row in rows if row.candidate is not None]
        return self._sides[0].suspects(here) or self._sides[1].suspects(there)

    def build(self, most: int, room: int) -> Timelines:
        """At most `most` rows, with texts of at most `room` characters in their fields."""
        if (most, room) not in self._made:
            self._made[most, room] = self._build(most, room)
        return self._made[most, room]

    def _build(self, most: int, room: int) -> Timelines:
        differing = [number for number, row in enumerate(self._rows) if row in self._found]
        kept = _kept(len(self._rows), differing, most)
        self._pictures_left = _MOST_PICTURES if room else 0
        rows = [self._row(self._rows[number], room) for number in kept]
        at: dict[int, int] = {}
        for number, row in enumerate(rows):
            for index in row.divergences:
                at.setdefault(index, number)
        cause = first_cause_at(enumerate(self._divergences), self._causes)
        return Timelines(
            rows=tuple(rows),
            first=None if cause is None else at.get(cause),
            left_out=len(self._rows) - len(kept),
            causes=tuple(self._causes),
        )

    def _row(self, placed: Placed, room: int) -> Row:
        channel, a, b = placed
        found = self._found.get(placed, ())
        if (a is None and b is None) or channel_of(channel).remarks_on is not None:
            return _note(placed, [(index, self._divergences[index]) for index in found])
        control, candidate = self._sides
        fields: Sequence[JsonObject | None] = (None, None)
        kind: MomentKind | None = None
        line = ""
        if found:
            paths = [self._divergences[index].path for index in found]
            fields = control.fields(channel, a, candidate, b, paths, room)
        pictures = self._pictures(placed) if found else (None, None)
        moments: list[Moment | None] = []
        for side, index, value, picture in zip(self._sides, (a, b), fields, pictures, strict=True):
            if index is None:
                moments.append(None)
                continue
            kind = kind or side.kind(channel, index)
            line = side.line(channel, index) if found or not line else line  # equal items, one line
            at_ms = side.at_ms(channel, index)
            moments.append(
                Moment(index=index, line=line, fields=value, at_ms=at_ms, picture=picture)
            )
        assert kind is not None, "one side has an item, or `_note` makes the row"
        return Row(kind=kind, control=moments[0], candidate=moments[1], divergences=tuple(found))

    def _pictures(self, placed: Placed) -> Sequence[str | None]:
        """The pictures of both sides, for the first rows that have some."""
        channel, *places = placed
        if not self._pictures_left:
            return None, None
        drawn = [
            None if index is None else side.picture(channel, index)
            for side, index in zip(self._sides, places, strict=True)
        ]
        self._pictures_left -= drawn != [None, None]
        return drawn


def _times(seen: Observation, places: Sequence[Place]) -> dict[Place, tuple[int, int]]:
    """When each item of the channels `IN_TIME` happened: the number of such items before it, and
    the number of its stream of events.
    """
    times: dict[Place, tuple[int, int]] = {}
    stream = 0
    for channel, index in places:
        if channel in IN_TIME:
            times[channel, index] = (len(times), stream)
        elif channel is ChannelName.EVENTS:
            stream += seen.events[index].get("type") == "agent_start"
    return times


def _found_at(divergences: Sequence[Divergence]) -> dict[Placed, list[int]]:
    """The indices of the divergences of each row."""
    found: dict[Placed, list[int]] = {}
    for index, each in enumerate(divergences):
        a, b = each.control_index, each.candidate_index
        places: list[Placed]
        if each.kind is Kind.NONDETERMINISTIC:
            # Both are runs of the candidate; the first one is shown.
            places = [(each.channel, None, None)]
        elif each.kind is Kind.ORDER:
            places = [(each.channel, a, None), (each.channel, None, b)]
        else:
            places = [(each.channel, a, b)]
        for place in places:
            found.setdefault(place, []).append(index)
    return found


def _remarks(
    found: Collection[Placed], on: ChannelName, control: int | None, candidate: int | None
) -> Iterable[Placed]:
    """The rows of remarks on an item, which follow it."""
    for name in (each.name for each in CHANNELS if each.remarks_on is on):
        here: list[Placed] = [(name, control, candidate)]
        if control is not None and candidate is not None:
            here += [(name, control, None), (name, None, candidate)]
        yield from (place for place in here if place in found)


def _kept(rows: int, differing: Sequence[int], most: int) -> list[int]:
    """Numbers of the kept rows: those that differ, and their neighbours, `most` in all."""
    if rows <= most:
        return list(range(rows))
    near: dict[int, None] = dict.fromkeys(differing[:most])
    distance = 1
    while len(near) < most and distance < rows:
        for number in differing[:most]:
            for other in (number - distance, number + distance):
                if 0 <= other < rows and len(near) < most:
                    near.setdefault(other)
        distance += 1
        if not differing:
            return list(range(most))
    return sorted(near)


def _note(placed: Placed, found: Sequence[tuple[int, Divergence]]) -> Row:
    """A row made from divergences alone, where no item is on the timeline."""
    channel = channel_of(placed[0])
    kind = MomentKind.NOTE if channel.remarks_on is None else channel.kind
    sides: list[Moment | None] = []
    for side, index in enumerate(placed[1:]):
        values = [(each.control, each.candidate)[side] for _, each in found]
        texts = [
            f"{each.label} {each.path}: {value}".strip()
            for (_, each), value in zip(found, values, strict=True)
            if value != ABSENT
        ]
        sides.append(Moment(index=index or 0, line=one_line("; ".join(texts))) if texts else None)
    at = tuple(index for index, _ in found)
    return Row(kind=kind, control=sides[0], candidate=sides[1], divergences=at)
