"""How an agent's loop goes on: with a batch of tools, a request of its own, or the end.

Tool rounds happen inside an invocation. After it come the requests that the user did not write:
feedback after a loop, `Please continue.`, what an AfterAgent hook asks for, the nudge after an
empty answer, and the results of calls that clients have seen although their answer was given up.

Source: core `core/client.ts` and `agent/legacy-agent-session.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import ToolsDone
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from runtimes.adk.processors.base import agent_event
from runtimes.adk.run import End, Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.stream import Stream
from runtimes.adk.tool_round import ToolRound
from services.bundle import Services
from services.chat import MAX_TURNS_EXCEEDED
from services.history.transforms import EMPTY_ANSWER_NUDGE
from services.loop_detection.detector import LoopVerdict, loop_feedback
from services.model.sdk_contents import WireContent, wire_of
from services.next_speaker import CONTINUE_REQUEST, model_goes_on
from services.presentation.finish import end_reason, end_reason_of_calls
from services.scheduler.calls import CompletedToolCall
from services.wire import Part

__all__ = ["Continuation"]

_TOO_MANY = End("max_turns", {"code": MAX_TURNS_EXCEEDED})


@dataclass(slots=True)
class Continuation:
    """Decides in the order in which the published core decides."""

    _services: Services
    _conversation: Conversation
    _sessions: GcliSessionService
    _link: RunLink
    prompt_id: str
    """That of every send."""
    max_turns: MaxTurnsAdkPlugin
    _steering: SteeringAdkPlugin

    async def run_tools(
        self, context: InvocationContext, call_event: Event, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the one response event of a turn's calls; nothing once the run is aborted.

        The batch is `Run.requests`; `call_event` has the calls of the complete answer alone.
        """
        run, completed = self._link.run, None
        tools = ToolRound(self._services, context, llm_request.tools_dict)
        # Where a hook has a say first, and perhaps another request, the batch waits for that.
        if run.calls.leave_for_tools(run.step.answer) and not run.signal.aborted:
            completed = await self._completed(run, tools)
        if completed is None:
            context.end_invocation = True
            return
        event = _response_event(context, completed, last=run.end is not None)
        event.actions = tools.actions(event.actions)
        yield event
        # Clients have the event by now: the Runner and the agent go in step.
        self._record(completed)
        if run.end is None and event.actions.skip_summarization:
            run.end = End("completed")
            if event.content is not None:
                # As with ADK, the response stays in the history.
                self._conversation.take_request(wire_of(event.content), prompt_id=run.prompt_id)
        if run.end is not None:
            self._sessions.discard_pending(context.session)
        else:
            self._steer(context)

    async def after(self, stream: Stream, run: Run) -> list[Part] | End:
        """Decide after an invocation: the next request's parts, or the end."""
        if run.end is not None:
            return run.end
        if run.step.answer.complete:
            run.calls.note_answer(run.step.answer)
        if run.step.loop is not None:
            decided = self._after_loop(stream, run, run.step.loop)
            if decided is not None:
                return decided
        elif await self._model_goes_on(run):
            run.follow_up()
            return [{"text": CONTINUE_REQUEST}]
        decided = await self._after_agent(stream, run)
        if decided is not None:
            return decided
        if run.signal.aborted:
            return End("aborted")
        if run.requests:
            return await self._results(stream, run)
        if run.takes_nudge():
            return [{"text": EMPTY_ANSWER_NUDGE}]
        return End(end_reason(run.finish_reason))

    def _after_loop(self, stream: Stream, run: Run, loop: LoopVerdict) -> list[Part] | End | None:
        """Report the first loop of a prompt to the model, and the second to clients."""
        if loop.count == 1 and run.left > 1:
            self._conversation.loops.clear_detection()
            run.follow_up()
            return [{"text": loop_feedback(loop.detail)}]
        if run.step.loop_emitted:
            return None
        if run.signal.aborted:
            return End("aborted")
        if loop.count == 1:
            return _TOO_MANY
        stream.emit(stream.translator.loop_detected())
        return None

    async def _after_agent(self, stream: Stream, run: Run) -> list[Part] | End | None:
        """Leave the calls, innermost first, unless a hook ends the stream or will not have it."""
        while run.calls.under_way:
            said = await run.calls.after_agent()
            if said is None:
                run.calls.leave()
                continue
            if run.signal.aborted:
                return End("aborted")
            if said.stops:
                return End("completed", {"message": said.shown_reason})
            stream.emit(stream.translator.blocked(said.shown_reason))
            if said.clears_context:
                self._conversation.start()
            if run.calls.left <= 1:
                # The core has no bound here: a hook that always blocks never ends.
                return _TOO_MANY
            run.resume_after_block()
            return [{"text": said.reason}]
        return None

    async def _model_goes_on(self, run: Run) -> bool:
        """Whether the model was not done, as another model sees it."""
        answer, signal = run.step.answer, run.signal
        if not answer.complete or answer.calls or signal.aborted:
            return False
        return await model_goes_on(
            self._services, self._conversation, signal, run.prompt_id, run.finish_reason
        )

    async def _results(self, stream: Stream, run: Run) -> list[Part] | End:
        """Run the calls that no answer in the history has, and answer with their results."""
        assert run.asked is not None, "the calls have no invocation"
        context, request = run.asked
        tools = ToolRound(self._services, context, request.tools_dict)
        completed = await self._completed(run, tools)
        if completed is None:
            return End("aborted")
        for call in completed:
            stream.emit(stream.translator.tool_response(call))
        self._record(completed)
        return run.end or self._steering.before_answers(_parts(completed))

    def _steer(self, context: InvocationContext) -> None:
        """Put what was injected meanwhile in front of the results that wait to be sent."""
        results = self._sessions.pending_parts(context.session)
        parts = self._steering.before_answers(results)
        if parts is not results:
            self._sessions.extend_pending(context.session, parts)

    async def _completed(self, run: Run, tools: ToolRound) -> Sequence[CompletedToolCall] | None:
        """Run the turn's calls and see what they mean for the run; `None` once it is aborted."""
        schedule = partial(self._services.scheduler.schedule, signal=run.signal)
        completed = await tools.run(run.requests, schedule)
        if run.signal.aborted:
            return None
        run.after_tools = bool(completed)
        reason = end_reason_of_calls(completed)
        run.end = None if reason is None else End(reason)
        return completed

    def _record(self, completed: Sequence[CompletedToolCall]) -> None:
        """Write the outcome into the recording, once clients have it."""
        state = self._services.state
        self._conversation.record_tool_calls(state.sequence_model or state.model, completed)


def _parts(completed: Sequence[CompletedToolCall]) -> list[Part]:
    return [part for call in completed for part in call.response.response_parts]


def _response_event(
    context: InvocationContext, completed: Sequence[CompletedToolCall], *, last: bool
) -> Event:
    actions = EventActions(skip_summarization=True) if last else None
    content = {"role": "user", "parts": _parts(completed)}
    return agent_event(context, WireContent.of(content, ToolsDone(completed)), actions=actions)
