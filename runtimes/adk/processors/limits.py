"""What may end a step: the limit of turns, the BeforeAgent hooks, and a loop of the prompt.

`MaxTurnsAdkPlugin` has the rules of turns. `LimitsProcessor` calls them at the published core's
moments: the limit of a send before the hooks, the limit of the session after them.
"""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.notes import Blocked, Stopped
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin
from runtimes.adk.processors.base import EngineProcessor, note_event
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

    async def _step(
        self, context: InvocationContext, run: Run, request: LlmRequest
    ) -> Event | None:
        if context.end_invocation:
            return None
        stopped = None
        if not run.begin_step():
            stopped = self._max_turns.turn_started()
            if stopped is None:
                run.begin_turn()
        if stopped is None:
            parts = self._sessions.pending_parts(context.session)
            self._begin_sequence(run, parts)
            entered = await self._conversation.calls.enter(run, parts)
            if isinstance(entered, HookOutput):
                return self._refused(context, parts, entered)
            if entered is not parts:
                self._sessions.extend_pending(context.session, entered)
            stopped = self._max_turns.request_started()
        if stopped is not None:
            return self._stop(context, stopped)
        if not self._max_turns.may_follow(run.turn.left):
            self._leave(context)
        return None

    def _begin_sequence(self, run: Run, parts: list[Part]) -> None:
        conversation, state = self._conversation, self._services.state
        self._services.availability.reset_turn()
        previous = state.last_prompt_id
        if previous != run.prompt_id:
            conversation.loops.reset(run.prompt_id, part_list_to_string(parts, verbose=True))
            conversation.calls.forget(previous)
            state.last_prompt_id = run.prompt_id
            state.sequence_model = None

    def _refused(self, context: InvocationContext, parts: list[Part], said: HookOutput) -> Event:
        """A prompt that is stopped stays in history; one that is blocked leaves no trace."""
        if said.stops:
            self._conversation.add_history({"role": "user", "parts": parts})
            data = {"message": shown_reason(said)}
            return self._stop(context, Stopped(reason="completed", data=data))
        self._leave(context)
        return note_event(context, Blocked(shown_reason(said)), partial=True)


class LoopCheckProcessor(EngineProcessor):
    """Ends the invocation where the prompt is in a loop, as a model sees it now and then.

    `Step.loop` says what was found.
    """

    name = "loop_check"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        verdict = await self._conversation.loops.turn_started(run.signal)
        if verdict.count:
            run.step.loop = verdict
            self._leave(context)
