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
from typing import Annotated, Final

from pydantic import Field

from harness.codec import Coded, Listed
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
    """What a child agent reports of its work."""
    WORKSPACE = "workspace"
    PROVIDER = "provider"
    COST = "cost"
    ITEM = "item"
    """An item of a channel that names no kind of its own."""
    NOTE = "note"
    """A remark of the replay."""


Count = Annotated[int, Field(ge=0, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Listed):
    """One thing that one side did."""

    index: Count
    """Its place in its channel, from 0."""
    line: str
    """What happened, on one printable line."""
    fields: JsonObject | None = None
    """The item as it is compared, long texts cut; `None` where the sides agree, to stay small."""
    at_ms: Count | None = None
    """The virtual milliseconds from the run's begin until it happened; `None` for what is looked
    at when the run is over, and where that is not known, as in journals of earlier builds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Listed):
    """What stands beside what. A side that did nothing here is `None`."""

    kind: MomentKind
    control: Moment | None
    candidate: Moment | None
    divergences: tuple[Count, ...] = ()
    """Indices into `CaseResult.divergences`: what differs in this row. Their paths are paths into
    the moments' `fields`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines(Coded):
    """Two runs, row by row."""

    rows: tuple[Row, ...]
    first: Count | None = None
    """The row of the first cause, as `harness.explain.first_cause` has it before waivers."""
    left_out: Count = 0
    """Rows that there was no room for; equal ones far from any difference go first."""
    causes: tuple[Count, ...] = ()
    """Indices into `CaseResult.divergences`: those of things that are taken down while they happen
    (questions, retries, calls), the earliest first. Rows alone do not say that: a row stands where
    one side's half of it happened."""


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
