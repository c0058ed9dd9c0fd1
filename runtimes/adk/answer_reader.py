"""`AnswerReader`: what the model's answer to one request has shown so far.

Source: core `core/turn.ts`, which keeps the same facts of one request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from runtimes.adk.notes import AskedCall, Delta
from services.model.parts import citations, first_parts, response_text, response_texts
from services.wire import JsonObject, js_trim

__all__ = ["AnswerReader", "Requested"]

Requested = Callable[[JsonObject, str | None], AskedCall]
"""Makes the request of a function call (the API's JSON) in the chunk with this `responseId`."""


class AnswerReader:
    """One request's answer, failed attempts included.

    The model layer writes it by its methods. Everyone else reads the properties.
    """

    def __init__(self) -> None:
        self._chunks: list[JsonObject] = []
        self._calls: list[AskedCall] = []
        self._citations: set[str] = set()
        self._last = Delta()
        self._visible_before = self._visible = False
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
        """Whether the answer is in history, or a hook has replaced it."""
        return self._complete

    @property
    def texts(self) -> list[str]:
        """The texts of the chunks; in a complete answer the first text includes the others."""
        return response_texts(self._chunks)

    @property
    def text(self) -> str:
        """The text that hooks get as the answer's."""
        return " ".join(self.texts)

    def deltas(self, chunk: JsonObject, requested: Requested) -> Iterator[Delta]:
        """Take a chunk in, delta by delta; what the caller does not ask for was never seen.

        The order is the one in which upstream emits a chunk: thoughts, text, function calls, then
        what closes it. Every chunk gives at least one delta, so that an abort is noticed.
        """
        self._chunks.append(chunk)
        response_id, parts = chunk.get("responseId"), first_parts(chunk)
        index = 0
        for part in parts:
            if part.get("thought"):
                thought = {key: part[key] for key in part if key != "functionCall"}
                yield self.see(Delta(part=thought, index=index))
                index += 1
        text = response_text(chunk)
        if text:
            yield self.see(Delta(part={"text": text}, index=index))
            index += 1
        for part in parts:
            call = part.get("functionCall")
            if call is not None:
                request = requested(call, response_id)
                yield self.see(
                    Delta(part=part, request=request, index=index, response_id=response_id)
                )
                index += 1
        self._citations.update(citations(chunk))
        candidate = (chunk.get("candidates") or [{}])[0]
        reason = candidate.get("finishReason")
        if reason:
            sources = tuple(sorted(self._citations))
            self._citations.clear()
            yield self.see(
                Delta(
                    index=index,
                    response_id=response_id,
                    citations=sources,
                    finish_reason=reason,
                    usage=chunk.get("usageMetadata"),
                )
            )
        elif not index:
            yield self.see(Delta(response_id=response_id))

    def see(self, delta: Delta) -> Delta:
        """Take in a delta that is about to be yielded; returns it."""
        self._last, self._visible_before = delta, self._visible
        part = delta.part or {}
        if delta.request is not None:
            self._asked = True
            self._calls.append(delta.request)
        elif not part.get("thought"):
            self._visible = self._visible or bool(js_trim(part.get("text") or ""))
        self._finish_reason = delta.finish_reason or self._finish_reason
        return delta

    def withdraw(self) -> None:
        """Take the last delta back: the answer loops with it, and clients do not see it."""
        self._visible = self._visible_before
        if self._last.request is not None:
            self._calls.pop()

    def replace_calls(self, calls: Iterable[AskedCall]) -> None:
        """The answer asks for these calls alone: a callback has replaced it."""
        self._calls = list(calls)
        self._asked = bool(self._calls)

    def finish(self) -> None:
        """The answer is complete."""
        self._complete = True
