"""Makes the numbered agent events of one stream for the runtimes.

Source: core `agent/event-translator.ts`, `agent/legacy-agent-session.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from agent_protocol.agent import MessageSend
from agent_protocol.content import ContentPart, TextPart, ThoughtPart
from agent_protocol.events import (
    AgentEnd,
    AgentStart,
    ErrorEvent,
    Message,
    SessionUpdate,
    ToolDisplay,
    ToolRequest,
    ToolResponse,
    Usage,
)
from services.clock import Clock, iso_timestamp
from services.model.stream import call_name
from services.presentation.content import parts_to_content
from services.presentation.display import populate_tool_display
from services.presentation.errors import ErrorFields
from services.presentation.tool_data import response_data
from services.scheduler.calls import CompletedToolCall, ToolCallRequest
from services.tools.contract import InvalidToolParams
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = [
    "MAX_TURNS_EXCEEDED",
    "ConversationEvents",
    "NumberedEvents",
    "request_display",
    "tool_call_request",
]

MAX_TURNS_EXCEEDED: Final = "MAX_TURNS_EXCEEDED"
"""The `code` of an `agent_end` at the limit of turns."""


class NumberedEvents:
    """Makes one stream's events: `agent_start`, `error`, `agent_end`."""

    def __init__(self, stream_id: str, *, clock: Clock) -> None:
        self.stream_id = stream_id
        self._clock = clock
        self._count = 0

    @property
    def now_ms(self) -> int:
        """The time of an event that is made now."""
        return self._clock.now_ms()

    def fields(self) -> dict[str, Any]:
        """Id, stream and time of the stream's next event; the ids count from 0 without gaps."""
        number = self._count
        self._count += 1
        return {
            "id": f"{self.stream_id}-{number}",
            "stream_id": self.stream_id,
            "timestamp": iso_timestamp(self._clock.now_ms()),
        }

    def start(self) -> AgentStart:
        """The stream's `agent_start`."""
        return AgentStart(**self.fields())

    def end(self, reason: str, data: Mapping[str, Any] | None = None) -> AgentEnd:
        """The stream's `agent_end`."""
        return AgentEnd(**self.fields(), reason=reason, data=data)

    def error(self, data: ErrorFields) -> ErrorEvent:
        """An `error` event."""
        return ErrorEvent(
            **self.fields(),
            status=data.status,
            message=data.message,
            fatal=data.fatal,
            meta=data.meta,
        )


class ConversationEvents(NumberedEvents):
    """Makes the events of a conversation's stream, and keeps the model announced last."""

    def __init__(self, stream_id: str, *, clock: Clock) -> None:
        super().__init__(stream_id, clock=clock)
        self._model: str | None = None

    def user_message(self, payload: MessageSend) -> Message:
        """The user's message, with the content for display if there is one."""
        content: tuple[ContentPart, ...] = payload.content
        if payload.display_content:
            content = (TextPart(text=payload.display_content),)
        return Message(**self.fields(), role="user", content=content, meta=payload.meta)

    def model_chosen(self, model: str) -> SessionUpdate:
        """The `session_update` that announces the model, which later `usage` events name."""
        self._model = model
        return SessionUpdate(**self.fields(), model=model)

    def text(self, text: str) -> Message:
        """A fragment of the model's answer."""
        return Message(**self.fields(), role="agent", content=(TextPart(text=text),))

    def thought(self, subject: str, description: str) -> Message:
        """A thought of the model; the subject may be empty."""
        meta = {"source": "agent", **({"subject": subject} if subject else {})}
        thought = ThoughtPart(thought=description)
        return Message(**self.fields(), role="agent", content=(thought,), meta=meta)

    def citations(self, text: str) -> Message:
        """The sources of an answer, as one text."""
        meta = {"source": "agent", "citation": True}
        return Message(**self.fields(), role="agent", content=(TextPart(text=text),), meta=meta)

    def usage(self, usage: JsonObject, model: str | None = None) -> Usage:
        """The token counts of `usageMetadata`; `model` unless it is the announced one."""
        return Usage(
            **self.fields(),
            model=model or self._model or "unknown",
            input_tokens=usage.get("promptTokenCount"),
            output_tokens=usage.get("candidatesTokenCount"),
            cached_tokens=usage.get("cachedContentTokenCount"),
        )

    def tool_request(self, request: ToolCallRequest) -> ToolRequest:
        """A call that the model requests."""
        return ToolRequest(
            **self.fields(),
            request_id=request.call_id,
            name=request.name,
            args=request.args,
            display=request.display,
        )

    def tool_response(self, call: CompletedToolCall) -> ToolResponse:
        """The outcome of one completed call."""
        request, response = call.request, call.response
        content: tuple[ContentPart, ...]
        if response.error:
            content = (TextPart(text=response.error),)
        else:
            content = parts_to_content(response.response_parts)
        return ToolResponse(
            **self.fields(),
            request_id=request.call_id,
            name=request.name,
            content=content,
            is_error=response.error is not None,
            display=populate_tool_display(
                name=request.name,
                invocation=call.invocation,
                result_display=response.result_display,
                display_name=call.tool.display_name if call.tool else None,
                display=response.display,
            ),
            data=response_data(response),
        )

    def invalid_stream(self, kind: str, message: str) -> ErrorEvent:
        """The `error` of an answer that stayed invalid through all attempts."""
        return self.error(
            ErrorFields(
                status="INTERNAL",
                message=message.strip() or "Invalid stream received from model",
                meta={"code": "INVALID_STREAM", "errorType": kind, "rawMessage": message},
            )
        )

    def loop_detected(self) -> ErrorEvent:
        """The `error` of a prompt that ran into a loop for the second time."""
        return self.error(
            ErrorFields(
                status="INTERNAL",
                message="Loop detected, stopping execution",
                fatal=False,
                meta={"code": "LOOP_DETECTED"},
            )
        )

    def blocked(self, reason: str) -> ErrorEvent:
        """The `error` after a hook's refusal."""
        return self.error(
            ErrorFields(
                status="PERMISSION_DENIED",
                message=reason,
                fatal=False,
                meta={"code": "AGENT_EXECUTION_BLOCKED"},
            )
        )


def request_display(tools: ToolRegistry, name: str, args: JsonObject) -> ToolDisplay | None:
    """The display of a requested call; `None` if there is no such tool.

    For arguments that the tool refuses it has the tool's description.
    """
    tool = tools.get(name)
    if tool is None:
        return None
    try:
        invocation = tool.build(args)
    except InvalidToolParams:
        invocation = None
    display = populate_tool_display(
        name=name, invocation=invocation, display_name=tool.display_name
    )
    return display if display.description else replace(display, description=tool.description)


def tool_call_request(tools: ToolRegistry, prompt_id: str, call: JsonObject) -> ToolCallRequest:
    """The scheduler's request for a function call."""
    name, args = call_name(call), call.get("args") or {}
    return ToolCallRequest(
        call_id=call.get("id") or "",
        name=name,
        args=args,
        prompt_id=prompt_id,
        display=request_display(tools, name, args),
    )
