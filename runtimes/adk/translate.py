"""ADK events → agent events.

What an ADK event is about is its note (`runtimes.adk.notes`); events without one say nothing to a
client. Source of the mapping: core `agent/event-translator.ts` and `core/turn.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.adk.events.event import Event

from agent_protocol.events import AgentEvent, ToolRequest
from runtimes.adk.notes import (
    Answer,
    Blocked,
    ChildToolsDone,
    Chunk,
    Compressed,
    ModelChosen,
    Retrying,
    Stopped,
    ToolsDone,
    note_of,
)
from runtimes.adk.run import Run
from services.chat import ConversationEvents, request_display
from services.clock import Clock
from services.model.parts import citations, function_calls, parse_thought, response_text
from services.model.stream import call_name
from services.presentation.errors import ErrorFields
from services.scheduler.calls import ToolCallRequest
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["EventTranslator"]


class EventTranslator(ConversationEvents):
    """Translates one stream."""

    def __init__(self, stream_id: str, *, clock: Clock, tools: ToolRegistry) -> None:
        super().__init__(stream_id, clock=clock)
        self._tools = tools

    def _second_loop(self, run: Run) -> Iterator[AgentEvent]:
        """Told while the answer is still open: an abort by who hears it undoes the prompt."""
        loop = run.step.loop
        if loop is not None and loop.count > 1 and not run.signal.aborted:
            run.step.loop_told = True
            yield self.loop_detected()

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
                yield self.model_chosen(model)
            case Chunk(response=response):
                yield from self._chunk(response, run)
            case ToolsDone(calls=calls):
                for call in calls:
                    yield self.tool_response(call)
            case Stopped() as stopped:
                if not stopped.whatever_happens:
                    signal.raise_if_aborted()
                yield from self._stopped(stopped)
            case Answer():
                run.step.answered = True
            case Blocked(reason=reason):
                signal.raise_if_aborted()
                yield self.blocked(reason)
            case Compressed() | Retrying():
                signal.raise_if_aborted()
            case ChildToolsDone() | None:
                return

    def _chunk(self, response: JsonObject, run: Run) -> Iterator[AgentEvent]:
        """Thoughts, text, tool requests, citations, finish; in this order, up to a loop."""
        step, signal = run.step, run.signal
        signal.raise_if_aborted()
        step.responses.append(response)
        candidate = (response.get("candidates") or [{}])[0]
        for part in (candidate.get("content") or {}).get("parts") or ():
            if part.get("thought"):
                signal.raise_if_aborted()
                yield self.thought(*parse_thought(part.get("text") or ""))
        text = response_text(response)
        if text:
            if step.loops_with_text(text):
                yield from self._second_loop(run)
                return
            signal.raise_if_aborted()
            run.turn.see_text(text)
            yield self.text(text)
        for call in function_calls(response) or ():
            step.asked = True
            if step.loops_with_call(call_name(call), call.get("args") or {}):
                yield from self._second_loop(run)
                return
            signal.raise_if_aborted()
            yield self._tool_request(call, response.get("responseId"), run)
        step.citations.update(citations(response))
        reason = candidate.get("finishReason")
        if not reason:
            return
        if step.citations:
            signal.raise_if_aborted()
            sources = "\n".join(["Citations:", *sorted(step.citations)])
            step.citations.clear()
            yield self.citations(sources)
        signal.raise_if_aborted()
        run.turn.finish_reason = reason
        usage = response.get("usageMetadata")
        if usage is not None:
            yield self.usage(usage)

    def _tool_request(self, call: JsonObject, trace_id: str | None, run: Run) -> ToolRequest:
        name, args = call_name(call), call.get("args") or {}
        request = ToolCallRequest(
            call_id=call["id"],
            name=name,
            args=args,
            prompt_id=run.prompt_id,
            trace_id=trace_id,
            display=request_display(self._tools, name, args),
        )
        run.step.requests.append(request)
        run.turn.requests.append(request)
        return self.tool_request(request)

    def _stopped(self, stopped: Stopped) -> Iterator[AgentEvent]:
        if stopped.error is not None:
            yield self.error(ErrorFields(status=stopped.status, message=stopped.error))
        yield self.end(stopped.reason, stopped.data)
