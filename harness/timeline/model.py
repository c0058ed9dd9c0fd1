"""`Timelines`: two runs side by side as values, small enough to be kept with every result.

Made where the runs are at hand (a worker), read where they no longer are: by the explainer and the
reports. Packed, they are text that fits into a line of a journal.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from services.wire import JsonObject

__all__ = ["Moment", "MomentKind", "Row", "Timelines", "pack", "unpack"]

_MOST_BYTES: Final = 8 * 2**20
"""Unpacked; a journal is untrusted input."""


class MomentKind(StrEnum):
    """What sort of thing happened."""

    REQUEST = "request"
    """The model was asked."""
    ANSWER = "answer"
    """What the model said, as the runtime's events and transcript show it."""
    RETRY = "retry"
    TOOL = "tool"
    """A call's way through the scheduler's states."""
    EVENT = "event"
    SIDE = "side"
    """A change of model or mode, a confirmation shown, a question about a fallback."""
    MEMORY = "memory"
    """A content of the transcript at the end."""
    RECORDING = "recording"
    CHILD = "child"
    """What a child agent told of its work."""
    WORKSPACE = "workspace"
    PROVIDER = "provider"
    COST = "cost"
    ITEM = "item"
    """An item of a channel that names no kind of its own."""
    NOTE = "note"
    """A remark of the replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One thing that one side did."""

    index: int
    """Its place in its channel, from 0."""
    line: str
    """What happened, on one printable line."""
    fields: JsonObject | None = None
    """The item as it is compared, long texts cut; `None` where the sides agree, to stay small."""

    at_ms: int | None = None
    """The virtual milliseconds from the run's begin until it happened; `None` for what is looked
    at when the run is over, and where that is not known."""

    def to_json(self) -> list[Any]:
        """As kept."""
        return [self.index, self.line, self.fields, self.at_ms]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What stands beside what. A side that did nothing here is `None`."""

    kind: MomentKind
    control: Moment | None
    candidate: Moment | None
    divergences: tuple[int, ...] = ()
    """Indices into `CaseResult.divergences`: what differs in this row. Their paths are paths into
    the moments' `fields`."""

    def to_json(self) -> list[Any]:
        """As kept."""
        sides = [
            None if side is None else side.to_json() for side in (self.control, self.candidate)
        ]
        return [self.kind.value, *sides, list(self.divergences)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines:
    """Two runs, row by row."""

    rows: tuple[Row, ...]
    first: int | None = None
    """The row of the first cause, as `harness.explain.first_cause` has it before waivers."""
    left_out: int = 0
    """Rows that there was no room for; equal ones far from any difference go first."""
    causes: tuple[int, ...] = ()
    """Indices into `CaseResult.divergences`: those of things that are taken down while they happen
    (questions, retries, calls), the earliest first. Rows alone do not say that: a row stands where
    one side's half of it happened."""

    def to_json(self) -> JsonObject:
        """As kept."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "first": self.first,
            "leftOut": self.left_out,
            "causes": list(self.causes),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Timelines:
        """The inverse of `to_json`.

        Raises:
            KeyError, ValueError, TypeError: what was kept are no timelines.
        """
        return cls(
            rows=tuple(
                Row(
                    kind=MomentKind(kind),
                    control=_moment(control),
                    candidate=_moment(candidate),
                    divergences=_counts(divergences),
                )
                for kind, control, candidate, divergences in value["rows"]
            ),
            first=None if value["first"] is None else _count(value["first"]),
            left_out=_count(value["leftOut"]),
            causes=_counts(value.get("causes", [])),
        )


def _moment(value: list[Any] | None) -> Moment | None:
    if value is None:
        return None
    index, line, fields, *more = value  # journals of earlier builds have no times
    if not isinstance(line, str) or not isinstance(fields, dict | None) or len(more) > 1:
        raise TypeError("a moment without a line, or with fields that are none")
    at_ms = None if more in ([], [None]) else _count(more[0])
    return Moment(index=_count(index), line=line, fields=fields, at_ms=at_ms)


def _counts(values: list[Any]) -> tuple[int, ...]:
    return tuple(map(_count, values))


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{value!r} counts nothing")
    return value


def pack(timelines: Timelines) -> str:
    """`timelines` as text of letters, digits, `+`, `/` and `=`: zlib in base64."""
    text = json.dumps(timelines.to_json(), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode("ascii")


@lru_cache(maxsize=1)  # explanations and reports ask several times for those of one case
def unpack(text: str) -> Timelines:
    """The inverse of `pack`.

    Raises:
        ValueError: not packed timelines, or more than 8 MB of them.
    """
    machine = zlib.decompressobj()
    try:
        data = machine.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
        if machine.unconsumed_tail or not machine.eof:
            raise ValueError("timelines: too large, or cut off")
        return Timelines.from_json(json.loads(data))
    except (zlib.error, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"no packed timelines: {error}") from error
