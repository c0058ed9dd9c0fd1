"""`Turn`: one model request, from chat chunks to server stream events.

Source: core `core/turn.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from runtimes.legacy import events as server
from runtimes.legacy.chat import GeminiChat
from services.abort import AbortSignal
from services.bundle import Services
from services.chat import AnswerReader, tool_call_request
from services.model.configs import ModelConfigKey
from services.model.errors import EmptyMessageError, InvalidStreamError
from services.model.parts import parse_thought
from services.model.stream import CallIds
from services.presentation.errors import model_failure
from services.scheduler.calls import ToolCallRequest
from services.wire import JsonObject, Part

__all__ = ["Turn"]


class Turn:
    """One turn of one prompt. `answer` fills while it runs."""

    def __init__(self, services: Services, chat: GeminiChat, prompt_id: str) -> None:
        self._services = services
        self._chat = chat
        self._prompt_id = prompt_id
        self._call_ids = CallIds(services.clock)
        self.answer = AnswerReader()

    async def run(
        self,
        key: ModelConfigKey,
        parts: list[Part],
        signal: AbortSignal,
        *,
        display_content: list[Part] | None = None,
    ) -> AsyncGenerator[server.ServerEvent, None]:
        """Send `parts` and yield the events; errors of the model become events.

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
                        yield server.UserCancelled()
                        return
                    if isinstance(item, dict):
                        for event in self._read(item):
                            yield event
                        continue
                    yield item
                    if isinstance(item, server.AgentExecutionStopped):
                        return
        except EmptyMessageError:
            # Upstream fails while it reports this error, so it is raised as it is.
            raise
        except Exception as error:  # noqa: BLE001 - the border where failures become events
            if signal.aborted:
                yield server.UserCancelled()
            elif isinstance(error, InvalidStreamError):
                yield server.InvalidStream(error.type, str(error))
            else:
                yield server.ModelFailed(model_failure(error))

    def _read(self, chunk: JsonObject) -> Iterator[server.ServerEvent]:
        """One chunk's events: thoughts, text, tool requests, citations, finish; in this order."""
        for delta in self.answer.deltas(chunk, self._request):
            if isinstance(delta.request, ToolCallRequest):
                yield server.ToolCallRequested(delta.request)
            elif delta.part is not None and delta.part.get("thought"):
                yield server.ThoughtText(*parse_thought(delta.part.get("text") or ""))
            elif delta.part is not None:
                yield server.ContentText(delta.part["text"])
            if delta.citations:
                yield server.Citation("\n".join(["Citations:", *delta.citations]))
            if delta.finish_reason:
                yield server.Finished(delta.finish_reason, delta.usage)

    def _request(self, call: JsonObject) -> ToolCallRequest:
        self._call_ids.assign(call)
        return tool_call_request(self._services.tools, self._prompt_id, call)
