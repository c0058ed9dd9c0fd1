"""What comes first in a step: the limit of turns, and the BeforeAgent hooks.

`MaxTurnsAdkPlugin` has the rules. The processor calls them at the published core's moments: the
limit of a send before the hooks, the limit of the session after them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Blocked, Stopped
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin
from runtimes.adk.processors.base import EngineProcessor, leave, note_event, stop
from runtimes.adk.prompt_calls import shown_reason
from runtimes.adk.run import Run, RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services
from services.hooks.results import HookOutput
from services.model.parts import part_list_to_string
from services.wire import Part

__all__ = ["LimitsProcessor"]


class LimitsProcessor(EngineProcessor):
    """Counts a model turn in, or ends the run."""

    name = "limits"

    def __init__(
        self,
        services: Services,
        sessions: GcliSessionService,
        link: RunLink,
        max_turns: MaxTurnsAdkPlugin,
    ) -> None:
        super().__init__(services, sessions, link)
        self._max_turns = max_turns

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing, or the event that ends the run."""
        if invocation_context.end_invocation:
            return
        run, session = self._link.run, invocation_context.session
        stopped = None if run.begin_step() else self._begin_turn(run)
        if stopped is None:
            conversation = self._sessions.archive(session)
            parts = self._sessions.pending_parts(session)
            self._begin_sequence(conversation, run, parts)
            entered = await conversation.calls.enter(run, parts)
            if isinstance(entered, HookOutput):
                yield self._refused(invocation_context, conversation, parts, entered)
                return
            if entered is not parts:
                self._sessions.extend_pending(session, entered)
            stopped = self._max_turns.request_started()
        if stopped is not None:
            yield stop(invocation_context, self._sessions, stopped)
        elif not self._max_turns.may_follow(run.turn.left):
            leave(invocation_context, self._sessions)

    def _begin_turn(self, run: Run) -> Stopped | None:
        stopped = self._max_turns.turn_started()
        if stopped is None:
            run.begin_turn()
        return stopped

    def _begin_sequence(self, conversation: Conversation, run: Run, parts: list[Part]) -> None:
        state = self._services.state
        self._services.availability.reset_turn()
        previous = state.last_prompt_id
        if previous != run.prompt_id:
            conversation.loops.reset(run.prompt_id, part_list_to_string(parts, verbose=True))
            conversation.calls.forget(previous)
            state.last_prompt_id = run.prompt_id
            state.sequence_model = None

    def _refused(
        self,
        context: InvocationContext,
        conversation: Conversation,
        parts: list[Part],
        said: HookOutput,
    ) -> Event:
        """A prompt that is stopped stays in history; one that is blocked leaves no trace."""
        if said.stops:
            conversation.add_history({"role": "user", "parts": parts})
            data = {"message": shown_reason(said)}
            return stop(context, self._sessions, Stopped(reason="completed", data=data))
        leave(context, self._sessions)
        return note_event(context, Blocked(shown_reason(said)), partial=True)
