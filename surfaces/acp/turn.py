"""`Turn`: one prompt's stream of agent events, as updates and as the answer to the request.

Source: `packages/cli` `acp/acpSession.ts` (`prompt`).
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from acp.exceptions import RequestError

from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.events import AgentEnd, AgentEvent, ErrorEvent, Message, Usage
from services.wire import JsonObject
from surfaces.acp.outbox import Outbox, text_chunk

__all__ = ["NOTHING_USED", "Turn"]

NOTHING_USED: Final[JsonObject] = {
    "stopReason": "end_turn",
    "_meta": {"quota": {"token_count": {"input_tokens": 0, "output_tokens": 0}, "model_usage": []}},
}
"""The answer to a prompt that asks no model."""
_SERVER_ERROR: Final = 500
_STOP_REASONS: Final = {"aborted": "cancelled", "max_turns": "max_turn_requests"}
_LOOP: Final = "LOOP_DETECTED"
_OVERFLOW: Final = "RESOURCE_EXHAUSTED"
_NOT_FAILED: Final = frozenset({"INVALID_STREAM", "AGENT_EXECUTION_BLOCKED", _LOOP})
"""The codes of errors after which the prompt has ended all the same."""


class Turn:
    """Collects what the answer to `session/prompt` needs; the client gets the rest at once."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._ended = asyncio.Event()
        self._stop: str | None = None
        self._error: RequestError | None = None
        self._used: dict[str, tuple[int, int]] = {}

    async def ended(self) -> None:
        """Return when the stream has ended."""
        await self._ended.wait()

    def take(self, event: AgentEvent) -> None:
        """Report an event of the agent."""
        match event:
            case Message(role="agent"):
                self._message(event)
            case Usage():
                self._count(event)
            case ErrorEvent():
                self._fail(event)
            case AgentEnd():
                self._stop = _STOP_REASONS.get(event.reason, self._stop)
                self._ended.set()
            case _:
                pass

    def answer(self) -> JsonObject:
        """The result of the request.

        Raises:
            RequestError: the stream failed.
        """
        if self._stop == "cancelled":
            return {"stopReason": "cancelled"}
        if self._error is not None:
            raise self._error
        return {"stopReason": self._stop or "end_turn", "_meta": {"quota": self._quota()}}

    def _quota(self) -> JsonObject:
        tokens = list(self._used.values())
        return {
            "token_count": _tokens(
                sum(each[0] for each in tokens), sum(each[1] for each in tokens)
            ),
            "model_usage": [
                {"model": model, "token_count": _tokens(*counts)}
                for model, counts in self._used.items()
            ],
        }

    def _message(self, message: Message) -> None:
        meta = message.meta or {}
        if meta.get("citation"):
            return
        for part in message.content:
            if isinstance(part, TextPart):
                self._outbox.add(text_chunk("agent_message_chunk", part.text))
            elif isinstance(part, ThoughtPart):
                words = f"**{meta.get('subject') or ''}**\n{part.thought}"
                self._outbox.add(text_chunk("agent_thought_chunk", words))

    def _count(self, usage: Usage) -> None:
        read, written = int(usage.input_tokens or 0), int(usage.output_tokens or 0)
        if read or written:
            before = self._used.get(usage.model, (0, 0))
            self._used[usage.model] = before[0] + read, before[1] + written

    def _fail(self, event: ErrorEvent) -> None:
        meta = event.meta or {}
        code = meta.get("code")
        if code == _LOOP:
            self._stop = "max_turn_requests"
        if code in _NOT_FAILED or not event.fatal:
            return
        if event.status == _OVERFLOW and not meta:
            self._stop = "max_tokens"
            return
        self._error = RequestError(_status(meta), event.message)


def _status(meta: Any) -> int:
    status = meta.get("status")
    return status if isinstance(status, int) and not isinstance(status, bool) else _SERVER_ERROR


def _tokens(read: int, written: int) -> JsonObject:
    return {"input_tokens": read, "output_tokens": written}
