"""What may end a step: the limit of turns, the BeforeAgent hooks, and a loop of the prompt.

`MaxTurnsAdkPlugin` has the rules of turns. `LimitsProcessor` calls them at the published core's
moments: the limit of a send before the hooks, the limit of the session after them.
"""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Blocked, Stopped
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin
from runtimes.adk.processors.base import EngineProcessor, leave, note_event, stop
from runtimes.adk.prompt_calls import shown_reason
from runtimes.adk.run import Run
from services.hooks.results import HookOutput
from services.model.parts import part_list_to_string
from services.wire import Part

__all__ = ["LimitsProcessor", "LoopCheckProcessor"]


@dataclass(eq=False)
class LimitsProcessor(EngineProcessor):
    """Counts a model turn in, or ends the run. It comes first in a step."""

    _max_turns: MaxTurnsAdkPlugin
    name = "limits"

    async def _step(self, context: InvocationContext, run: Run) -> Event | None:
        if context.end_invocation:
            return None
        stopped = None
        if not run.begin_step():
            stopped = self._max_turns.turn_started()
            if stopped is None:
                run.begin_turn()
        if stopped is None:
            conversation = self._sessions.archive(context.session)
            parts = self._sessions.pending_parts(context.session)
            self._begin_sequence(conversation, run, parts)
            entered = await conversation.calls.enter(run, parts)
            if isinstance(entered, HookOutput):
                return self._refused(context, conversation, parts, entered)
            if entered is not parts:
                self._sessions.extend_pending(context.session, entered)
            stopped = self._max_turns.request_started()
        if stopped is not None:
            return stop(context, self._sessions, stopped)
        if not self._max_turns.may_follow(run.turn.left):
            leave(context, self._sessions)
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


class LoopCheckProcessor(EngineProcessor):
    """Ends the invocation where the prompt is in a loop, as a model sees it now and then.

    `Step.loop` says what was found.
    """

    name = "loop_check"

    async def _step(self, context: InvocationContext, run: Run) -> None:
        verdict = await self._sessions.archive(context.session).loops.turn_started(run.signal)
        if verdict.count:
            run.step.loop = verdict
            leave(context, self._sessions)
