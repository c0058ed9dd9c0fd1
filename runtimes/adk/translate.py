"""ADK events → agent events.

What an ADK event is about is its note (`runtimes.adk.notes`); events without one say nothing to a
client. Source of the mapping: core `agent/event-translator.ts` and `core/turn.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.adk.events.event import Event

from agent_protocol.content import ContentPart, TextPart, ThoughtPart
from agent_protocol.events import (
    AgentEvent,
    ErrorEvent,
    Message,
    SessionUpdate,
    ToolRequest,
    ToolResponse,
    Usage,
)
from runtimes.adk.notes import (
    LOOP_DETECTED,
    Answer,
    AskedCall,
    Blocked,
    ChildToolsDone,
    Compressed,
    Delta,
    ModelChosen,
    Retrying,
    Stopped,
    ToolsDone,
    note_of,
)
from runtimes.adk.numbered import NumberedEvents
from runtimes.adk.run import Run
from services.clock import Clock
from services.model.parts import parse_thought
from services.presentation.content import parts_to_content
from services.presentation.display import populate_tool_display
from services.presentation.tool_data import response_data
from services.scheduler.calls import CompletedToolCall, ToolCallRequest

__all__ = ["EventTranslator"]


class EventTranslator(NumberedEvents):
    """Translates one stream: numbers its events and remembers the model last announced."""

    def __init__(self, stream_id: str, *, clock: Clock) -> None:
        super().__init__(stream_id, clock=clock)
        self._model: str | None = None

    def invalid_stream(self, kind: str, message: str) -> ErrorEvent:
        """The `error` of an answer that stayed invalid through all attempts."""
        return ErrorEvent(
            **self.fields(),
            status="INTERNAL",
            message=message.strip() or "Invalid stream received from model",
            fatal=True,
            meta={"code": "INVALID_STREAM", "errorType": kind, "rawMessage": message},
        )

    def _second_loop(self, run: Run) -> Iterator[AgentEvent]:
        """Told while the answer is still open: an abort by who hears it undoes the prompt."""
        loop = run.step.loop
        if loop is not None and loop.count > 1 and not run.signal.aborted:
            run.step.loop_told = True
            yield self.loop_detected()

    def loop_detected(self) -> ErrorEvent:
        """The `error` of a prompt that ran into a loop for the second time."""
        return ErrorEvent(
            **self.fields(),
            status="INTERNAL",
            message="Loop detected, stopping execution",
            fatal=False,
            meta={"code": "LOOP_DETECTED"},
        )

    def blocked(self, reason: str) -> ErrorEvent:
        """The `error` of something that a hook refused."""
        return ErrorEvent(
            **self.fields(),
            status="PERMISSION_DENIED",
            message=reason,
            fatal=False,
            meta={"code": "AGENT_EXECUTION_BLOCKED"},
        )

    def translate(self, event: Event, run: Run) -> Iterator[AgentEvent]:
        """Yield the agent events of one ADK event, lazily, and keep `run`'s step up to date.

        Each event is made only if nobody has aborted by then, as upstream's loop looks at the
        signal before each of its own events; tool responses and the loop's own limit are told
        whatever happens.

        Raises:
            AbortError: the run was aborted; the rest of the event is not told.
        """
        signal = run.signal
        match note_of(event):
            case ModelChosen(model=model):
                signal.raise_if_aborted()
                self._model = model
                yield SessionUpdate(**self.fields(), model=model)
            case Delta() as delta:
                yield from self._delta(delta, run)
            case ToolsDone(calls=calls):
                for call in calls:
                    yield self.tool_response(call)
            case Stopped() as stopped:
                if not stopped.whatever_happens:
                    signal.raise_if_aborted()
                yield from self._stopped(stopped)
            case Answer():
                run.step.answer.finish()
            case Blocked(reason=reason):
                signal.raise_if_aborted()
                yield self.blocked(reason)
            case Compressed() | Retrying():
                signal.raise_if_aborted()
            case None if event.error_code == LOOP_DETECTED and event.partial:
                yield from self._second_loop(run)
            case ChildToolsDone() | None:
                return

    def _delta(self, delta: Delta, run: Run) -> Iterator[AgentEvent]:
        run.signal.raise_if_aborted()
        part = delta.part
        if delta.request is not None:
            yield self._tool_request(delta.request, run)
        elif part is not None and part.get("thought"):
            yield self._thought(part.get("text") or "")
        elif part is not None:
            run.turn.see_text(part["text"])
            yield Message(**self.fields(), role="agent", content=(TextPart(text=part["text"]),))
        else:
            yield from self._closing(delta, run)

    def _closing(self, delta: Delta, run: Run) -> Iterator[AgentEvent]:
        if delta.citations:
            sources = "\n".join(["Citations:", *delta.citations])
            yield Message(
                **self.fields(),
                role="agent",
                content=(TextPart(text=sources),),
                meta={"source": "agent", "citation": True},
            )
        run.signal.raise_if_aborted()
        run.turn.finish_reason = delta.finish_reason or run.turn.finish_reason
        if delta.usage is not None:
            yield Usage(
                **self.fields(),
                model=self._model or "unknown",
                input_tokens=delta.usage.get("promptTokenCount"),
                output_tokens=delta.usage.get("candidatesTokenCount"),
                cached_tokens=delta.usage.get("cachedContentTokenCount"),
            )

    def _thought(self, text: str) -> Message:
        subject, description = parse_thought(text)
        return Message(
            **self.fields(),
            role="agent",
            content=(ThoughtPart(thought=description),),
            meta={"source": "agent", **({"subject": subject} if subject else {})},
        )

    def _tool_request(self, request: AskedCall, run: Run) -> ToolRequest:
        display = None
        if isinstance(request, ToolCallRequest):
            run.turn.requests.append(request)
            display = request.display
        return ToolRequest(
            **self.fields(),
            request_id=request.call_id,
            name=request.name,
            args=request.args,
            display=display,
        )

    def tool_response(self, call: CompletedToolCall) -> ToolResponse:
        """The `tool_response` of one completed call."""
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

    def _stopped(self, stopped: Stopped) -> Iterator[AgentEvent]:
        if stopped.error is not None:
            yield ErrorEvent(
                **self.fields(), status=stopped.status, message=stopped.error, fatal=True
            )
        yield self.end(stopped.reason, stopped.data)
