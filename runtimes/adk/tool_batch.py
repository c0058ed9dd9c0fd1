"""`ToolBatch`: the calls of a turn, run as one batch of the scheduler."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import ToolsDone
from runtimes.adk.processors.base import agent_event
from runtimes.adk.run import End, Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tool_round import ToolRound
from services.bundle import Services
from services.model.sdk_contents import WireContent, wire_of
from services.scheduler.calls import CompletedToolCall, ToolCallRequest
from services.tools.contract import ToolErrorType

__all__ = ["ToolBatch"]


class ToolBatch:
    """Runs the calls of a turn as one batch of the scheduler and reports the outcome."""

    def __init__(self, services: Services, sessions: GcliSessionService, link: RunLink) -> None:
        self._services = services
        self._sessions = sessions
        self._link = link
        self._step: tuple[InvocationContext, LlmRequest] | None = None
        self._round: ToolRound | None = None

    def begin(self, context: InvocationContext, llm_request: LlmRequest) -> None:
        """A step begins. Calls that its answer asks for have its context and its tools.

        That holds for calls which run after the invocation, too.
        """
        self._step = context, llm_request

    async def execute(
        self, context: InvocationContext, call_event: Event, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the batch's one response event; nothing once the run is aborted.

        The batch is every call that was asked for in this turn, those of attempts that failed and
        of answers that were cut off included: clients have seen them. `call_event` has those of
        the answer that is complete.
        """
        run, session = self._link.run, context.session
        if not self._sessions.archive(session).calls.leave_for_tools(run):
            # Hooks have a say first, and perhaps another request; the batch waits for that.
            context.end_invocation = True
            return
        self.begin(context, llm_request)
        completed = None if run.signal.aborted else await self.run(run)
        if completed is None:
            context.end_invocation = True
            return
        event = _response_event(context, completed, last=run.end is not None)
        if self._round is not None:
            event.actions = self._round.actions(event.actions)
        yield event
        # Clients have the event by now: the Runner and the agent go in step.
        conversation = self._sessions.archive(session)
        self.record(conversation, completed)
        if run.end is None and event.actions.skip_summarization:
            self._keep(conversation, event, run)
        if run.end is not None:
            self._sessions.discard_pending(session)

    async def run(self, run: Run) -> Sequence[CompletedToolCall] | None:
        """Run the turn's calls and see what they mean for the run; `None` once it is aborted."""

        async def schedule(requests: Sequence[ToolCallRequest]) -> Sequence[CompletedToolCall]:
            return await self._services.scheduler.schedule(requests, run.signal)

        if self._step is None:
            raise RuntimeError("no step has begun")
        context, request = self._step
        self._round = ToolRound(self._services, context, request.tools_dict)
        completed = await self._round.run(run.turn.requests, schedule)
        if run.signal.aborted:
            return None
        run.after_tools = bool(completed)
        run.end = _verdict(completed)
        return completed

    def record(self, conversation: Conversation, completed: Sequence[CompletedToolCall]) -> None:
        """Write the outcome into the recording, once clients have it."""
        state = self._services.state
        conversation.record_tool_calls(state.sequence_model or state.model, completed)

    def _keep(self, conversation: Conversation, event: Event, run: Run) -> None:
        """End the stream with the response in history, as ADK does on `skip_summarization`."""
        if event.content is not None and run.step.key is not None:
            conversation.send(
                wire_of(event.content),
                prompt_id=run.prompt_id,
                model=run.step.key.model,
                display_content=None,
            )
        run.end = End("completed")


def _verdict(completed: Sequence[CompletedToolCall]) -> End | None:
    """How the batch ends the stream, if it does."""
    types = [(call.response.error_type, call.response.error) for call in completed]
    if any(kind is ToolErrorType.STOP_EXECUTION and error is not None for kind, error in types):
        return End("completed")
    if any(kind is not None and kind.is_fatal for kind, _ in types):
        return End("failed")
    return None


def _response_event(
    context: InvocationContext, completed: Sequence[CompletedToolCall], *, last: bool
) -> Event:
    parts = [part for call in completed for part in call.response.response_parts]
    content = WireContent.of({"role": "user", "parts": parts}, ToolsDone(completed))
    return agent_event(
        context, content, actions=EventActions(skip_summarization=True) if last else None
    )
