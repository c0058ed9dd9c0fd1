"""Server stream events → agent events. Source: core `agent/event-translator.ts`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from agent_protocol.events import AgentEvent, ErrorEvent
from runtimes.legacy import events as server
from services.chat import MAX_TURNS_EXCEEDED, ConversationEvents
from services.presentation.errors import ErrorFields, map_error

__all__ = ["StreamTranslator"]


class StreamTranslator(ConversationEvents):
    """Translates one stream."""

    def translate(self, event: server.ServerEvent) -> Iterator[AgentEvent]:
        """The agent events for one server event; none for an internal one."""
        match event:
            case server.ModelInfo(model=model):
                yield self.model_chosen(model)
            case server.ContentText(text=text):
                yield self.text(text)
            case server.ThoughtText(subject=subject, description=description):
                yield self.thought(subject, description)
            case server.Citation(text=text):
                yield self.citations(text)
            case server.Finished(usage=dict(usage)):
                yield self.usage(usage)
            case server.ToolCallRequested(request=request):
                yield self.tool_request(request)
            case (
                server.ModelFailed()
                | server.InvalidStream()
                | server.ContextWindowWillOverflow()
                | server.LoopDetected()
                | server.AgentExecutionBlocked()
            ):
                yield self._error(event)
            case server.MaxSessionTurns():
                yield self.end("max_turns", {"code": MAX_TURNS_EXCEEDED})
            case server.AgentExecutionStopped(reason=reason):
                yield self.end("completed", {"message": reason})
            case server.UserCancelled():
                yield self.end("aborted")
            case server.Finished() | server.Retry():
                pass
            case other:
                assert_never(other)

    def _error(self, event: server.FailureEvent) -> ErrorEvent:
        match event:
            case server.ModelFailed(error=error):
                return self.error(map_error(error))
            case server.InvalidStream(kind=kind, message=message):
                return self.invalid_stream(kind, message)
            case server.ContextWindowWillOverflow(message=message):
                return self.error(ErrorFields(status="RESOURCE_EXHAUSTED", message=message))
            case server.LoopDetected():
                return self.loop_detected()
            case server.AgentExecutionBlocked(reason=reason):
                return self.blocked(reason)
