"""One prompt through an agent: passes its events to a presenter until the stream ends.

Source: `packages/cli` `nonInteractiveCliAgentSession.ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import ContentPart, TextPart
from agent_protocol.events import (
    AgentEnd,
    AgentEvent,
    ErrorEvent,
    Message,
    ToolRequest,
    ToolResponse,
)
from agent_protocol.session import AgentSession
from services.model.errors import (
    FatalCancellationError,
    FatalToolExecutionError,
    FatalTurnLimitedError,
)
from services.presentation.display import display_to_text
from services.state import SessionState
from services.tools.contract import ToolErrorType
from surfaces.headless.failures import (
    CANCELLED,
    INVALID_STREAM_WORDS,
    TURNS_EXCEEDED,
    failure_of,
)
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.presenters import Presenter
from surfaces.headless.streams import Streams, strip_ansi

__all__ = ["Conversation"]


class Conversation:
    """Sends one message and presents the events that follow.

    Args:
        presenter: the output format.
        streams: for messages that are the same in every format.
        metrics: counts invalid answers.
        state: names the model of an invalid answer.
        raw_output: whether the model's terminal sequences are let through.
        saw: called with every event, before it is presented.
    """

    def __init__(
        self,
        presenter: Presenter,
        *,
        streams: Streams,
        metrics: SessionMetrics,
        state: SessionState,
        raw_output: bool = False,
        saw: Callable[[AgentEvent], None] | None = None,
    ) -> None:
        self._presenter = presenter
        self._streams = streams
        self._metrics = metrics
        self._state = state
        self._raw_output = raw_output
        self._saw = saw

    async def run(
        self, agent: AgentProtocol, prompt: str, content: tuple[ContentPart, ...] | None = None
    ) -> None:
        """Send `prompt`, or `content` in its place, and present the stream.

        Raises:
            FatalError, ReportedError: the run failed; the caller reports it.
            OutputClosed: the reader of the output has left.
        """
        self._presenter.user(prompt)
        message = MessageSend(content=content or (TextPart(text=prompt),), display_content=prompt)
        async with aclosing(AgentSession(agent).send_stream(message)) as events:
            async for event in events:
                if self._saw is not None:
                    self._saw(event)
                if self._show(event):
                    return

    def _show(self, event: AgentEvent) -> bool:
        """Present one event; return whether it ends the run."""
        match event:
            case Message(role="agent"):
                for part in event.content:
                    if isinstance(part, TextPart):
                        text = part.text if self._raw_output else strip_ansi(part.text)
                        self._presenter.answer(text)
            case ToolRequest():
                self._presenter.tool_use(event)
            case ToolResponse():
                self._tool_response(event)
            case ErrorEvent():
                return self._error(event)
            case AgentEnd():
                self._end(event)
                return True
            case _:
                pass
        return False

    def _tool_response(self, event: ToolResponse) -> None:
        kind = (event.data or {}).get("errorType")
        shown = display_to_text(event.display.result if event.display else None)
        words = _text(event) or "Tool error"
        shown_kind = kind if isinstance(kind, str) else "TOOL_EXECUTION_ERROR"
        self._presenter.tool_result(event, shown, words, shown_kind)
        if not event.is_error:
            return
        if kind == ToolErrorType.STOP_EXECUTION:
            self._presenter.stopped_by_tool(words)
        failure = f"Error executing tool {event.name}: {shown or words}"
        if kind == ToolErrorType.NO_SPACE_LEFT:
            raise FatalToolExecutionError(failure)
        self._streams.report(failure)

    def _error(self, event: ErrorEvent) -> bool:
        meta = event.meta or {}
        if meta.get("code") == "INVALID_STREAM":
            kind = meta.get("errorType")
            kind = kind if isinstance(kind, str) else ""
            self._metrics.invalid(
                self._state.sequence_model or self._state.model, kind or "INVALID_STREAM"
            )
            words = INVALID_STREAM_WORDS.get(kind, event.message)
            self._presenter.finish({"type": "INVALID_STREAM", "message": words})
            return True
        if event.fatal:
            raise failure_of(event)
        if meta.get("code") == "AGENT_EXECUTION_BLOCKED":
            self._presenter.warned(f"Agent execution blocked: {event.message.strip()}")
        else:
            exhausted = event.status == "RESOURCE_EXHAUSTED"
            self._presenter.warned(event.message, "error" if exhausted else "warning")
        return False

    def _end(self, event: AgentEnd) -> None:
        data = event.data or {}
        if event.reason == "aborted":
            raise FatalCancellationError(CANCELLED)
        if event.reason == "max_turns":
            if any(_is_number(data.get(key)) for key in ("maxTurns", "turnCount")):
                raise FatalTurnLimitedError(TURNS_EXCEEDED)
            self._presenter.turns_exceeded()
        message = data.get("message")
        if isinstance(message, str) and message:
            self._presenter.stopped(message)
        self._presenter.finish()


def _text(event: ToolResponse) -> str:
    return "".join(part.text for part in event.content or () if isinstance(part, TextPart))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
