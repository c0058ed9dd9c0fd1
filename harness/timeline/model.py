"""`Timelines`: two runs side by side, small enough to be kept with every result.

Workers build them; the explainer and the reports read them. Packed, they fit into one line of a
journal.
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
"""The most bytes unpacked; a journal is untrusted input."""


class MomentKind(StrEnum):
    """What sort of thing happened."""

    REQUEST = "request"
    """The model was asked."""
    ANSWER = "answer"
    """A message of the model."""
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
    """The compared item, long texts cut; `None` where the sides agree."""
    at_ms: Count | None = None
    """Virtual milliseconds since the run began; `None` for what is read after the run, and in
    journals of earlier builds."""
    picture: str | None = None
    """The item as SVG, where it has a picture and the sides differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Listed):
    """Two moments side by side. A side that did nothing here is `None`."""

    kind: MomentKind
    control: Moment | None
    candidate: Moment | None
    divergences: tuple[Count, ...] = ()
    """Indices into `CaseResult.divergences`, whose paths lead into the moments' `fields`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines(Coded):
    """Two runs, row by row."""

    rows: tuple[Row, ...]
    first: Count | None = None
    """The row of the first cause before waivers."""
    left_out: Count = 0
    """How many rows were dropped; equal rows far from any difference are dropped first."""
    causes: tuple[Count, ...] = ()
    """Indices into `CaseResult.divergences` of the differing requests, retries and calls, the
    earliest first. The order of the rows does not show that: it follows one side."""


def pack(timelines: Timelines) -> str:
    """`timelines` as text of letters, digits, `+`, `/` and `=`: zlib in base64."""
    text = json.dumps(timelines.to_json(), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode("ascii")


@lru_cache(maxsize=1)  # explanations and reports unpack one case several times
def unpack(text: str) -> Timelines:
    """The inverse of `pack`.

    Raises:
        ValueError: `text` is no packed timelines, or unpacks to more than 8 MB.
    """
    machine = zlib.decompressobj()
    try:
        data = machine.decompress(base64.b64decode(text, validate=True), _MOST_BYTES)
        if machine.unconsumed_tail or not machine.eof:
            raise ValueError("timelines: too large, or cut off")
        return Timelines.from_json(json.loads(data))
    except (zlib.error, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"no packed timelines: {error}") from error
