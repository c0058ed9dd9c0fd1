"""The limits of a conversation: the number of turns, and the room in the context window.

Source: core `core/client.ts`, `agent/legacy-agent-session.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.abort import AbortSignal
from services.chat.events import MAX_TURNS_EXCEEDED
from services.model.generator import ContentGenerator
from services.model.limits import token_limit
from services.model.tokens import request_token_count
from services.wire import JsonObject, Part

__all__ = ["ContextRoom", "SessionTurns", "TurnLimit"]


@dataclass(slots=True)
class SessionTurns:
    """The number of requests of one session's agents; a reset does not clear it."""

    count: int = 0


class TurnLimit:
    """Counts turns, and refuses those beyond the limit.

    The published core counts the turns of one send, where a limit of 0 allows none, and the
    requests of the session, where 0 means no limit. A negative limit means no limit.
    """

    def __init__(self, limit: int, session: SessionTurns | None = None) -> None:
        self._limit = limit
        self._session = session or SessionTurns()
        self.turns = 0
        """The turns that the send has begun."""

    @property
    def exhausted(self) -> bool:
        """Whether the send has used all its turns."""
        return 0 <= self._limit <= self.turns

    def send_started(self) -> None:
        """Begin to count the turns of another send."""
        self.turns = 0

    def turn_started(self) -> JsonObject | None:
        """Count a turn of the send; beyond the limit, return the data of its `agent_end`."""
        if self.exhausted:
            counts = {"maxTurns": self._limit, "turnCount": self.turns}
            return {"code": MAX_TURNS_EXCEEDED, **counts}
        self.turns += 1
        return None

    def request_started(self) -> JsonObject | None:
        """Count a request of the session; beyond the limit, return the data of the `agent_end`."""
        self._session.count += 1
        return {"code": MAX_TURNS_EXCEEDED} if 0 < self._limit < self._session.count else None


class ContextRoom:
    """Whether a request fits into the model's context window."""

    def __init__(self, generator: ContentGenerator) -> None:
        """`generator` counts the tokens of media; the tokens of other parts are estimated."""
        self._generator = generator
        self._model: str
        self._room: int

    def room_measured(self, model: str, used: int) -> None:
        """Compute the room in `model`'s window after the `used` tokens of the last prompt."""
        self._model = model
        self._room = token_limit(model) - used

    async def request_measured(
        self, parts: list[Part], signal: AbortSignal, prompt_id: str
    ) -> str | None:
        """Return the error of a request with `parts` that does not fit."""
        estimated = await request_token_count(
            parts, self._generator, self._model, signal=signal, prompt_id=prompt_id
        )
        if estimated <= self._room:
            return None
        return f"Context window will overflow (estimated: {estimated}, remaining: {self._room})"
