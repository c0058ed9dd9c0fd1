"""Server stream events → agent events. Source: core `agent/event-translator.ts`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    ErrorEvent,
    Message,
    SessionUpdate,
    ToolRequest,
    Usage,
)
from runtimes.legacy import events as server
from services.clock import Clock, iso_timestamp
from services.presentation.errors import map_error
from services.wire import js_trim

__all__ = ["MAX_TURNS_EXCEEDED", "StreamTranslator"]

MAX_TURNS_EXCEEDED: Final = "MAX_TURNS_EXCEEDED"


class StreamTranslator:
    """One stream's translation state: its id, its event counter, the model last announced."""

    def __init__(self, stream_id: str, clock: Clock) -> None:
        self.stream_id = stream_id
        self._clock = clock
        self._counter = 0
        self._model: str | None = None

    def fields(self) -> dict[str, Any]:
        """The id, stream and timestamp of the next event; ids are dense and count from 0."""
        event_id = f"{self.stream_id}-{self._counter}"
        self._counter += 1
        return {
            "id": event_id,
            "stream_id": self.stream_id,
            "timestamp": iso_timestamp(self._clock.now_ms()),
        }

    def start(self) -> AgentStart:
        """The stream's `agent_start`."""
        return AgentStart(**self.fields())

    def end(self, reason: str, data: Mapping[str, Any] | None = None) -> AgentEnd:
        """The stream's `agent_end`."""
        return AgentEnd(**self.fields(), reason=reason, data=data)

    def translate(self, event: server.ServerEvent) -> Iterator[AgentEvent]:
        """The agent events that stand for one server event; none for what stays internal."""
        match event:
            case server.ModelInfo(model=model):
                self._model = model
                yield SessionUpdate(**self.fields(), model=model)
            case server.ContentText(text=text):
                yield Message(**self.fields(), role="agent", content=(TextPart(text=text),))
            case server.ThoughtText(subject=subject, description=description):
                meta = {"source": "agent", **({"subject": subject} if subject else {})}
                thought = ThoughtPart(thought=description)
                yield Message(**self.fields(), role="agent", content=(thought,), meta=meta)
            case server.Citation(text=text):
                yield Message(
                    **self.fields(),
                    role="agent",
                    content=(TextPart(text=text),),
                    meta={"source": "agent", "citation": True},
                )
            case server.Finished(usage=usage):
                if usage is not None:
                    yield Usage(
                        **self.fields(),
                        model=self._model or "unknown",
                        input_tokens=usage.get("promptTokenCount"),
                        output_tokens=usage.get("candidatesTokenCount"),
                        cached_tokens=usage.get("cachedContentTokenCount"),
                    )
            case server.ToolCallRequested(request=request):
                yield ToolRequest(
                    **self.fields(),
                    request_id=request.call_id,
                    name=request.name,
                    args=request.args,
                    display=request.display,
                )
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
            case server.AgentExecutionStopped(reason=reason, system_message=told):
                yield self.end("completed", {"message": js_trim(told or "") or reason})
            case server.UserCancelled():
                yield self.end("aborted")
            case server.Retry() | server.ChatCompressed():
                return

    def _error(self, event: server.FailureEvent) -> ErrorEvent:
        match event:
            case server.ModelFailed(error=error):
                mapped = map_error(error)
                return ErrorEvent(
                    **self.fields(),
                    status=mapped.status,
                    message=mapped.message,
                    fatal=mapped.fatal,
                    meta=mapped.meta,
                )
            case server.InvalidStream(kind=kind, message=message):
                return ErrorEvent(
                    **self.fields(),
                    status="INTERNAL",
                    message=message.strip() or "Invalid stream received from model",
                    fatal=True,
                    meta={"code": "INVALID_STREAM", "errorType": kind, "rawMessage": message},
                )
            case server.ContextWindowWillOverflow(
                estimated_request_tokens=estimated, remaining_tokens=remaining
            ):
                return ErrorEvent(
                    **self.fields(),
                    status="RESOURCE_EXHAUSTED",
                    message=(
                        f"Context window will overflow (estimated: {estimated}, "
                        f"remaining: {remaining})"
                    ),
                    fatal=True,
                )
            case server.LoopDetected():
                return ErrorEvent(
                    **self.fields(),
                    status="INTERNAL",
                    message="Loop detected, stopping execution",
                    fatal=False,
                    meta={"code": "LOOP_DETECTED"},
                )
            case server.AgentExecutionBlocked(reason=reason, system_message=told):
                return ErrorEvent(
                    **self.fields(),
                    status="PERMISSION_DENIED",
                    message=js_trim(told or "") or reason,
                    fatal=False,
                    meta={"code": "AGENT_EXECUTION_BLOCKED"},
                )
