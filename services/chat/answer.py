"""`AnswerReader`: reads the model's answer to one request, delta by delta.

Source: core `core/turn.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from services.model.parts import citations, first_parts, response_text, response_texts
from services.model.stream import AskedCall
from services.wire import JsonObject, Part, js_trim

__all__ = ["AnswerReader", "Delta", "Requested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """One step of the model's answer.

    A chunk of the API becomes one delta for each thought, one for its texts together, and one for
    each function call. The last delta also has the fields that close the chunk. A chunk without
    parts becomes one delta without a part.
    """

    part: Part | None = None
    """The API's JSON of a thought, a text or a function call."""
    request: AskedCall | None = None
    """Of a function call: a `ToolCallRequest`, or the type of call of a subagent."""
    index: int = 0
    """The delta's number in its chunk, from 0."""
    citations: tuple[str, ...] = ()
    """Of a delta with a finish reason: the citations not reported yet, sorted."""
    finish_reason: str | None = None
    """Of a chunk's last delta: the chunk's finish reason."""
    usage: JsonObject | None = None
    """Of a delta with a finish reason: the chunk's `usageMetadata`."""


Requested = Callable[[JsonObject], AskedCall]
"""Makes the request of a function call, given as the API's JSON."""


class AnswerReader:
    """One request's answer, failed attempts included. Only the model layer changes it."""

    def __init__(self) -> None:
        self.chunks: list[JsonObject] = []
        """The answer's chunks; a chunk that a loop cut off is included."""
        self.calls: list[AskedCall] = []
        """Every function call that clients have seen, in order of arrival."""
        self.asked = False
        """Whether the answer asked for a tool; a call that a loop cut off counts."""
        self.visible_text = False
        """Whether clients have seen a text that is more than white space."""
        self.finish_reason: str | None = None
        """The last finish reason that a chunk gave."""
        self.complete = False
        """Whether the answer is in history, or a hook has replaced it."""
        self._citations: set[str] = set()
        self._last = Delta()
        self._before: tuple[bool, str | None] = False, None
        """What `visible_text` and `finish_reason` were before the last delta."""

    @property
    def texts(self) -> list[str]:
        """The texts of the chunks; in a complete answer the first text includes the others."""
        return response_texts(self.chunks)

    @property
    def text(self) -> str:
        """The text that hooks get as the answer's."""
        return " ".join(self.texts)

    def deltas(self, chunk: JsonObject, requested: Requested) -> Iterator[Delta]:
        """Read a chunk, delta by delta; deltas that the caller does not consume do not count.

        Every chunk has at least one delta, so that the caller can check for an abort.
        """
        self.chunks.append(chunk)
        parts = self._parts_of(chunk)
        for index, part in enumerate(parts or [None]):
            closing: dict[str, Any] = {}
            if index >= len(parts) - 1:
                closing = self._closing(chunk)
            call = (part or {}).get("functionCall")
            request = None if call is None else requested(call)
            yield self.see(Delta(part=part, request=request, index=index, **closing))

    def _closing(self, chunk: JsonObject) -> dict[str, Any]:
        """The fields of the chunk's last delta that report how the answer ended."""
        self._citations.update(citations(chunk))
        reason = (chunk.get("candidates") or [{}])[0].get("finishReason")
        if not reason:
            return {}
        sources = tuple(sorted(self._citations))
        self._citations.clear()
        return {
            "citations": sources,
            "finish_reason": reason,
            "usage": chunk.get("usageMetadata"),
        }

    @staticmethod
    def _parts_of(chunk: JsonObject) -> list[Part]:
        """The parts of a chunk in upstream's order: thoughts, text, function calls."""
        parts = first_parts(chunk)
        shown = [
            {key: part[key] for key in part if key != "functionCall"}
            for part in parts
            if part.get("thought")
        ]
        text = response_text(chunk)
        if text:
            shown.append({"text": text})
        return [*shown, *(part for part in parts if part.get("functionCall") is not None)]

    def see(self, delta: Delta) -> Delta:
        """Count a delta and return it."""
        self._last, self._before = delta, (self.visible_text, self.finish_reason)
        part = delta.part or {}
        if delta.request is not None:
            self.asked = True
            self.calls.append(delta.request)
        elif not part.get("thought"):
            self.visible_text |= bool(js_trim(part.get("text") or ""))
        self.finish_reason = delta.finish_reason or self.finish_reason
        return delta

    def withdraw(self) -> None:
        """Drop the last delta: the model is in a loop, and clients do not get the delta."""
        self.visible_text, self.finish_reason = self._before
        if self._last.request is not None:
            self.calls.pop()

    def replace_calls(self, calls: Iterable[AskedCall]) -> None:
        """Replace the requested calls: a callback has replaced the answer."""
        self.calls = list(calls)
        self.asked = bool(self.calls)

    def finish(self) -> None:
        """Mark the answer as complete."""
        self.complete = True
