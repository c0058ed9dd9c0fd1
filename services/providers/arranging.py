"""The chunks of an answer, from the pieces that arrive in the format of another provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.providers.exchange import answer_chunk
from services.wire import Json, JsonObject, Part

__all__ = ["Arrangement", "Named"]

_MALFORMED: Final = "MALFORMED_FUNCTION_CALL"


@dataclass(frozen=True, slots=True)
class Named:
    """The model's version and the answer's id, as far as they are known."""

    model: str | None = None
    response_id: str | None = None


class Arrangement:
    """Forms chunks of texts, whole thoughts, and groups of calls."""

    def __init__(self) -> None:
        self.named = Named()
        self._thought: list[str] = []
        self._thought_named = Named()
        self._calls: list[Part] = []
        self._calls_named = Named()
        self._finish: str | None = None
        self._usage: JsonObject | None = None

    def describe(self, model: Json, response_id: Json) -> None:
        """Note the model's version and the answer's id; the first of each counts."""
        known = self.named
        self.named = Named(
            known.model or (model if isinstance(model, str) else None),
            known.response_id or (response_id if isinstance(response_id, str) else None),
        )

    def finish(self, reason: str | None, usage: JsonObject | None) -> None:
        """Note why the answer ends, and its tokens; the last of each counts."""
        self._finish = reason or self._finish
        self._usage = usage or self._usage

    def add(self, part: Part, named: Named | None = None) -> list[JsonObject]:
        """Add a part, and return the chunks that are complete.

        `named` is what was known when the last piece of the part arrived; by default the present.
        """
        named = named or self.named
        if part.get("thought"):
            found = self._calls_end()
            self._thought.append(part["text"])
            self._thought_named = named
            return found
        found = self.thought_ends()
        if "functionCall" in part:
            self._calls.append(part)
            self._calls_named = named
            return found
        return [*found, *self._calls_end(), _chunk([part], named)]

    def end(self) -> list[JsonObject]:
        """Return the chunks that are left."""
        found = self.thought_ends()
        calls = [] if self._finish == _MALFORMED else self._calls
        if self._finish is None and self._usage is None:
            return [*found, _chunk(calls, self._calls_named)] if calls else found
        return [*found, _chunk(calls, self.named, self._finish, self._usage)]

    def thought_ends(self) -> list[JsonObject]:
        """Return the chunk of the thought, if there is one: a part of another kind begins."""
        if not self._thought:
            return []
        thought, self._thought = "".join(self._thought), []
        return [_chunk([{"text": thought, "thought": True}], self._thought_named)]

    def _calls_end(self) -> list[JsonObject]:
        if not self._calls:
            return []
        calls, self._calls = self._calls, []
        return [_chunk(calls, self._calls_named)]


def _chunk(
    parts: list[Part], named: Named, finish: str | None = None, usage: JsonObject | None = None
) -> JsonObject:
    return answer_chunk(
        parts, finish=finish, usage=usage, model=named.model, response_id=named.response_id
    )
