"""What comes first: the limits and BeforeAgent. May there be another model turn?

Three limits count differently, as upstream's do. The agent loop's own counts the turns of one send
and reads 0 as "none"; the client's counts requests over the conversation's life and reads 0 as "no
limit"; and only so many requests may follow each other by themselves within one turn.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Blocked, Stopped
from runtimes.adk.processors.base import EngineProcessor, leave, note_event, stop
from runtimes.adk.prompt_calls import shown_reason
from runtimes.adk.run import Run, Step
from services.chat import MAX_TURNS_EXCEEDED
from services.hooks.results import HookOutput
from services.model.parts import part_list_to_string
from services.wire import Part

__all__ = ["LIMIT_PLUGINS", "LimitsProcessor"]

LIMIT_PLUGINS: Final = ("MaxTurnsAdkPlugin", "TokenLimitAdkPlugin", "MaxTimeAdkPlugin")
"""The names under which the replatforming plan lists what this one processor does."""


class LimitsProcessor(EngineProcessor):
    """Counts a model turn in, or ends the run."""

    name = "limits"

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing, or the event that ends the run."""
        if invocation_context.end_invocation:
            return
        run, session = self._link.run, invocation_context.session
        run.step = Step()
        stopped = None if run.follows_up else self._begin_turn(run)
        run.follows_up = False
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
            stopped = self._count(conversation)
        if stopped is not None:
            yield stop(invocation_context, self._sessions, stopped)
        elif run.turn.left <= 0:
            leave(invocation_context, self._sessions)

    def _begin_turn(self, run: Run) -> Stopped | None:
        limit = self._services.settings.max_session_turns
        run.turns += 1
        if 0 <= limit < run.turns:
            data = {"code": MAX_TURNS_EXCEEDED, "maxTurns": limit, "turnCount": run.turns - 1}
            return Stopped(reason="max_turns", data=data, whatever_happens=True)
        run.begin_turn()
        return None

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

    def _count(self, conversation: Conversation) -> Stopped | None:
        conversation.session_turns += 1
        if 0 < self._services.settings.max_session_turns < conversation.session_turns:
            return Stopped(reason="max_turns", data={"code": MAX_TURNS_EXCEEDED})
        return None
