"""`GeminiClient`: one turn after another under one prompt id, with what surrounds each.

Limits, compression, masking, loop detection, routing, and whether the model continues alone.
Source: core `core/client.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from runtimes.legacy import events as server
from runtimes.legacy.agent_hooks import after_agent, before_agent
from runtimes.legacy.chat import GeminiChat
from runtimes.legacy.chats import Chats
from runtimes.legacy.turn import Turn
from services.abort import AbortSignal
from services.bundle import Services
from services.chat import ContextRoom, TurnLimit
from services.hooks.prompt_calls import CallOutcome
from services.loop_detection.detector import LoopVerdict, loop_feedback
from services.model.configs import ModelConfigKey
from services.next_speaker import CONTINUE_REQUEST, model_goes_on
from services.wire import Part

__all__ = ["GeminiClient"]

MAX_TURNS: Final = 100
"""Turns that may follow each other under one prompt without the user."""


@dataclass(slots=True)
class _After:
    """The follow-up of a turn: another request, or an event that ends it."""

    follow_up: list[Part] | None = None
    ended_with: server.ServerEvent | None = None


@dataclass(frozen=True, slots=True)
class _Sending:
    """The arguments that a request shares with its automatic follow-ups."""

    signal: AbortSignal
    prompt_id: str
    display_content: list[Part] | None
    turns: int
    """How many turns may still follow each other without the user: recoveries from loops,
    continuations, and what AfterAgent hooks ask for."""
    call: CallOutcome
    """Filled with the outcome."""


class GeminiClient:
    """One conversation's turn loop over its chats. Turn counts continue when a chat is replaced."""

    def __init__(self, services: Services, chats: Chats) -> None:
        self._services = services
        self._chats = chats
        self._turns = TurnLimit(services.settings.max_session_turns)
        self._hooks = chats.hooks
        self._loops = chats.loops

    @property
    def chat(self) -> GeminiChat:
        """The current chat; see `Chats.current`."""
        return self._chats.current

    @property
    def recording_model(self) -> str:
        """The model under which completed tool calls are recorded."""
        return self._services.state.sequence_model or self._services.state.model

    def send_message_stream(
        self,
        parts: list[Part],
        signal: AbortSignal,
        prompt_id: str,
        *,
        display_content: list[Part] | None = None,
    ) -> AsyncGenerator[server.ServerEvent, None]:
        """Run one turn for `parts` and its automatic follow-ups, and yield the events.

        Raises:
            UnauthorizedError: the credentials were refused.
        """
        call = CallOutcome()
        return self._send(parts, _Sending(signal, prompt_id, display_content, MAX_TURNS, call))

    async def _send(
        self, parts: list[Part], sending: _Sending
    ) -> AsyncGenerator[server.ServerEvent, None]:
        call = sending.call
        signal, prompt_id = sending.signal, sending.prompt_id
        self._chats.begin_sequence(prompt_id, parts)
        refusal, parts = await before_agent(self._hooks, self._chats, parts, prompt_id, signal)
        if refusal is not None:
            yield refusal
            return
        continued = False
        try:
            async with aclosing(self._process_turn(parts, sending)) as turn:
                async for event in turn:
                    yield event
            ended, again = await after_agent(self._hooks, parts, prompt_id, signal, call)
            if ended is not None:
                yield ended
                if ended.context_cleared:
                    self._chats.reset()
            if again is not None:
                continued = sending.turns > 1
                async with aclosing(self._go_on(again, sending)) as more:
                    async for event in more:
                        yield event
        finally:
            if not continued:
                self._hooks.leave(prompt_id, has_pending_calls=call.pending, aborted=signal.aborted)

    async def _go_on(
        self, parts: list[Part], sending: _Sending
    ) -> AsyncGenerator[server.ServerEvent, None]:
        """Send the request of an AfterAgent hook, if the turns are not used up."""
        if sending.turns <= 1:
            # The core has no bound here: a hook that always blocks never ends.
            yield server.MaxSessionTurns()
            return
        self._hooks.resume_after_block(sending.prompt_id)
        call = CallOutcome(stop_hook_active=True)
        next_one = replace(sending, turns=sending.turns - 1, call=call)
        async with aclosing(self._send(parts, next_one)) as more:
            async for event in more:
                yield event

    async def _process_turn(
        self, parts: list[Part], sending: _Sending
    ) -> AsyncGenerator[server.ServerEvent, None]:
        services, signal, prompt_id = self._services, sending.signal, sending.prompt_id
        if self._turns.request_started() is not None:
            yield server.MaxSessionTurns()
            return
        if sending.turns <= 0:
            return
        checked_model = self._chats.model_for_limits
        if not services.settings.context_management:
            await self._chats.compress(prompt_id, signal)
        room = ContextRoom(services.content_generator)
        room.room_measured(checked_model, self.chat.last_prompt_token_count)
        self.chat.mask()
        overflow = await room.request_measured(parts, signal, prompt_id)
        if overflow is not None:
            yield server.ContextWindowWillOverflow(overflow)
            return
        self._chats.note_editor()
        after = _After()
        verdict = await self._loops.turn_started(signal)
        if verdict.count:
            self._take_loop(verdict, sending.turns, after)
        else:
            async with aclosing(self._model_turn(parts, sending, after)) as events:
                async for event in events:
                    yield event
        if after.ended_with is not None:
            yield after.ended_with
        elif after.follow_up is not None:
            next_one = replace(sending, turns=sending.turns - 1)
            async with aclosing(self._send(after.follow_up, next_one)) as more:
                async for event in more:
                    yield event

    async def _model_turn(
        self, parts: list[Part], sending: _Sending, after: _After
    ) -> AsyncGenerator[server.ServerEvent, None]:
        """Choose the model, ask it, and watch its answer; `after` says how it goes on."""
        services, state = self._services, self._services.state
        signal, prompt_id = sending.signal, sending.prompt_id
        turn = Turn(services, self.chat, prompt_id)
        sending.call.answer = turn.answer
        wanted = await self._chats.wanted_model(parts, signal, prompt_id)
        key = ModelConfigKey(model=wanted, is_chat_model=True)
        model = services.availability.select(key, consume_attempt=False).model
        if not signal.aborted and state.sequence_model is None:
            yield server.ModelInfo(model)
        state.sequence_model = model
        self._chats.begin_turn(model)  # also where the abort has come: the next turn sees it
        services.steering.main.request_sent(parts)
        async with aclosing(
            turn.run(key, parts, signal, display_content=sending.display_content)
        ) as events:
            async for event in events:
                verdict = self._watched(event)
                if verdict.count:
                    self._take_loop(verdict, sending.turns, after)
                    if after.ended_with is not None:  # a subscriber's abort undoes the turn
                        yield after.ended_with
                        after.ended_with = None
                    return
                yield event
                self._chats.publish_tokens()
        # A failure does not get here: the agent closes the stream with the event that reports one.
        self._hooks.note_response(prompt_id, turn.answer.text)
        after.follow_up = await self._continuation(turn, signal, prompt_id)

    def _watched(self, event: server.ServerEvent) -> LoopVerdict:
        if isinstance(event, server.ContentText):
            return self._loops.add_text(event.text)
        if isinstance(event, server.ToolCallRequested):
            return self._loops.add_tool_call(event.request.name, event.request.args)
        return self._loops.current()

    def _take_loop(self, verdict: LoopVerdict, turns: int, after: _After) -> None:
        """Report the first loop of a prompt to the model; end the prompt at the second."""
        if verdict.count > 1:
            after.ended_with = server.LoopDetected()
        elif turns <= 1:
            after.ended_with = server.MaxSessionTurns()
        else:
            self._loops.clear_detection()
            after.follow_up = [{"text": loop_feedback(verdict.detail)}]

    async def _continuation(
        self, turn: Turn, signal: AbortSignal, prompt_id: str
    ) -> list[Part] | None:
        """The next request, where another model judges that the model was not done."""
        if turn.answer.calls or signal.aborted:
            return None
        goes_on = await model_goes_on(
            self._services, self.chat, signal, prompt_id, turn.answer.finish_reason
        )
        return [{"text": CONTINUE_REQUEST}] if goes_on else None
