"""`AnswerReader`: what the model's answer to one request has shown so far.

The model layer calls `see` with each delta before it yields the delta's partial response. Everyone
else reads the properties. Source: core `core/turn.ts`, which keeps the same facts of one request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runtimes.adk.notes import AskedCall, Delta
from services.model.parts import response_texts
from services.wire import JsonObject, js_trim

__all__ = ["AnswerReader"]


class AnswerReader:
    """One request's answer, failed attempts included, as clients have seen it."""

    def __init__(self) -> None:
        self._chunks: list[JsonObject] = []
        self._calls: list[AskedCall] = []
        self._citations: set[str] = set()
        self._last: Delta | None = None
        self._visible_before = False
        self._visible = False
        self._asked = False
        self._finish_reason: str | None = None
        self._complete = False

    @property
    def chunks(self) -> Sequence[JsonObject]:
        """The answer's chunks; a chunk that a loop cut off is included."""
        return self._chunks

    @property
    def calls(self) -> Sequence[AskedCall]:
        """Every function call that clients have seen, in order of arrival."""
        return self._calls

    @property
    def asked(self) -> bool:
        """Whether the answer asked for a tool; a call that a loop cut off counts."""
        return self._asked

    @property
    def visible_text(self) -> bool:
        """Whether clients have seen a text that is more than white space."""
        return self._visible

    @property
    def finish_reason(self) -> str | None:
        """The last finish reason that a chunk gave."""
        return self._finish_reason

    @property
    def complete(self) -> bool:
        """Whether the answer is complete: it is in history, or a hook has replaced it."""
        return self._complete

    @property
    def texts(self) -> list[str]:
        """The texts of the chunks; in a complete answer the first text includes the others."""
        return response_texts(self._chunks)

    @property
    def text(self) -> str:
        """The text that hooks get as the answer's."""
        return " ".join(self.texts)

    def begin_chunk(self, chunk: JsonObject) -> None:
        """Take in a chunk whose deltas follow."""
        self._chunks.append(chunk)

    def see(self, delta: Delta) -> None:
        """Take in a delta that is about to be yielded."""
        self._last, self._visible_before = delta, self._visible
        part = delta.part
        if delta.request is not None:
            self._asked = True
            self._calls.append(delta.request)
        elif part is not None and not part.get("thought"):
            self._visible = self._visible or bool(js_trim(part.get("text") or ""))
        self._finish_reason = delta.finish_reason or self._finish_reason

    def withdraw(self) -> None:
        """Take the last delta back: the answer loops with it, and clients do not see it."""
        self._visible = self._visible_before
        if self._last is not None and self._last.request is not None:
            self._calls.pop()

    def cite(self, sources: Iterable[str]) -> None:
        """Keep a chunk's citations for the next delta with a finish reason."""
        self._citations.update(sources)

    def take_citations(self) -> tuple[str, ...]:
        """The citations that no delta has reported yet, sorted."""
        found = tuple(sorted(self._citations))
        self._citations.clear()
        return found

    def finish(self) -> None:
        """The answer is complete."""
        self._complete = True
