"""`Turn`: one model request, from chat chunks to server stream events.

Source: core `core/turn.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from runtimes.legacy.chat import GeminiChat
from runtimes.legacy.chat_stream import ChatBlocked, ChatRetry, ChatStopped
from runtimes.legacy.events import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    Citation,
    ContentText,
    Finished,
    InvalidStream,
    ModelFailed,
    Retry,
    ServerEvent,
    ThoughtText,
    ToolCallRequested,
    UserCancelled,
)
from services.abort import AbortSignal
from services.bundle import Services
from services.chat import tool_call_request
from services.model.configs import ModelConfigKey
from services.model.errors import EmptyMessageError, InvalidStreamError
from services.model.parts import (
    citations,
    function_calls,
    parse_thought,
    response_text,
    response_texts,
)
from services.model.stream import CallIds
from services.presentation.errors import model_failure
from services.scheduler.calls import ToolCallRequest
from services.wire import JsonObject, Part

__all__ = ["Turn"]


class Turn:
    """One turn of one prompt. `finish_reason` and `pending_tool_calls` fill while it runs."""

    def __init__(self, services: Services, chat: GeminiChat, prompt_id: str) -> None:
        self._services = services
        self._chat = chat
        self._prompt_id = prompt_id
        self._call_ids = CallIds(services.clock)
        self._citations: set[str] = set()
        self.pending_tool_calls: list[ToolCallRequest] = []
        self.finish_reason: str | None = None
        self._responses: list[JsonObject] = []

    @property
    def text(self) -> str:
        """What hooks are told that the answer said: its chunks' texts, joined by blanks."""
        return " ".join(self._texts)

    @property
    def asked(self) -> bool:
        """Whether it asked for tools."""
        return bool(self.pending_tool_calls)

    @property
    def _texts(self) -> list[str]:
        return response_texts(self._responses)

    async def run(
        self,
        key: ModelConfigKey,
        parts: list[Part],
        signal: AbortSignal,
        *,
        display_content: list[Part] | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Send `parts` and yield what comes of it; errors of the model become events.

        Raises:
            UnauthorizedError: the credentials were refused; the caller has to ask for others.
            EmptyMessageError: there are no parts.
        """
        try:
            async with aclosing(
                self._chat.send(
                    key, parts, self._prompt_id, signal, display_content=display_content
                )
            ) as stream:
                async for item in stream:
                    if signal.aborted:
                        yield UserCancelled()
                        return
                    if isinstance(item, ChatRetry):
                        yield Retry()
                        continue
                    if isinstance(item, ChatStopped):
                        yield AgentExecutionStopped(item.reason)
                        return
                    if isinstance(item, ChatBlocked):
                        yield AgentExecutionBlocked(item.reason)
                        continue
                    for event in self._read(item):
                        yield event
        except EmptyMessageError:
            # Upstream fails again while it reports this one, so it escapes as it is.
            raise
        except Exception as error:  # noqa: BLE001 - the border where failures become events
            if signal.aborted:
                yield UserCancelled()
            elif isinstance(error, InvalidStreamError):
                yield InvalidStream(error.type, str(error))
            else:
                yield ModelFailed(model_failure(error))

    def _read(self, chunk: JsonObject) -> Iterator[ServerEvent]:
        """One chunk's events: thoughts, text, tool requests, citations, finish; in this order."""
        self._responses.append(chunk)
        candidates = chunk.get("candidates") or [{}]
        for part in (candidates[0].get("content") or {}).get("parts") or ():
            if part.get("thought"):
                yield ThoughtText(*parse_thought(part.get("text") or ""))
        text = response_text(chunk)
        if text:
            yield ContentText(text)
        for call in function_calls(chunk):
            yield ToolCallRequested(self._request(call, chunk.get("responseId")))
        self._citations.update(citations(chunk))
        reason = candidates[0].get("finishReason")
        if not reason:
            return
        if self._citations:
            yield Citation("\n".join(["Citations:", *sorted(self._citations)]))
            self._citations.clear()
        self.finish_reason = reason
        yield Finished(reason, chunk.get("usageMetadata"))

    def _request(self, call: JsonObject, trace_id: str | None) -> ToolCallRequest:
        self._call_ids.assign(call)
        request = tool_call_request(self._services.tools, self._prompt_id, call, trace_id)
        self.pending_tool_calls.append(request)
        return request
