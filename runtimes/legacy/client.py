"""`GeminiClient`: one turn after another under one prompt id, with what surrounds each.

Limits, compression, masking, loop detection, routing, and whether the model goes on by itself.
Source: core `core/client.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runtimes.legacy.chat import GeminiChat
from runtimes.legacy.events import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    ChatCompressed,
    ContentText,
    ContextWindowWillOverflow,
    LoopDetected,
    MaxSessionTurns,
    ModelFailed,
    ModelInfo,
    ServerEvent,
    ToolCallRequested,
    UserCancelled,
)
from runtimes.legacy.turn import Turn
from services.abort import AbortError, AbortSignal
from services.bundle import Services
from services.compression.rebuild import rebuilt_turns
from services.compression.service import CompressionInfo, CompressionStatus
from services.hooks.prompt_hooks import PromptHooks
from services.loop_detection.detector import LoopVerdict, loop_feedback
from services.model.configs import ModelConfigKey
from services.model.limits import token_limit
from services.model.parts import part_list_to_string
from services.model.tokens import request_token_count
from services.next_speaker import CONTINUE_REQUEST, check_next_speaker
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.recording.conversion import (
    convert_session_to_client_history,
    ensure_stable_tool_ids,
)
from services.recording.loading import load_conversation_record
from services.recording.records import HistoryTurn, ResumedSession
from services.routing.router import RoutingContext
from services.tools.declaring import ToolDeclarations
from services.wire import Content, Part

__all__ = ["GeminiClient"]

MAX_TURNS: Final = 100
"""Turns that may follow each other under one prompt without the user."""


@dataclass(slots=True)
class ClientCall:
    """What came of one call of the client, for the hooks around it."""

    turn: Turn | None = None
    stop_hook_active: bool = False

    @property
    def pending_calls(self) -> bool:
        """Whether the last turn asked for tools."""
        return self.turn is not None and bool(self.turn.pending_tool_calls)

    def continued(self) -> ClientCall:
        """The call that a blocking AfterAgent hook makes necessary."""
        return ClientCall(stop_hook_active=True)


@dataclass(slots=True)
class _After:
    """How a turn goes on by itself: with another request, or with an event that ends it."""

    follow_up: list[Part] | None = None
    ended_with: ServerEvent | None = None


class GeminiClient:
    """The state of one conversation: its chat, its turn count, its sticky model."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._session_turn_count = 0
        self._declarations = ToolDeclarations(services.tools, services.state)
        self._chat = self._start_chat()
        self._hooks = None if services.hooks is None else PromptHooks(services.hooks)
        self._loops = services.new_loop_detector(lambda: self._chat.shown_history())

    @property
    def chat(self) -> GeminiChat:
        """The current chat; a reset replaces it."""
        return self._chat

    @property
    def recording_model(self) -> str:
        """The model under which completed tool calls are recorded."""
        return self._services.state.sequence_model or self._services.state.model

    def transcript(self) -> list[Content]:
        """The whole history, with the view of it that `getHistory()` gives."""
        return self._chat.shown_history()

    def reset_chat(self) -> None:
        """Start anew with nothing but the environment's context. Turn counts go on."""
        self._chat = self._start_chat()

    async def compress(
        self, prompt_id: str, signal: AbortSignal, *, force: bool = False
    ) -> CompressionInfo:
        """Summarise the history if it is long enough, or because `force` says so."""
        services = self._services
        result = await services.compression.compress(
            self._chat, prompt_id, model=self._model_for_limits(), signal=signal, force=force
        )
        status = result.info.status
        if result.new_history is None:
            return result.info
        if status is CompressionStatus.COMPRESSED:
            turns = rebuilt_turns(
                services.prompts.session_context(), result.new_history, services.ids
            )
            self._chat = self._start_chat(turns, self._own_recording())
        elif status is CompressionStatus.CONTENT_TRUNCATED:
            self._chat.replace_history(result.new_history)
        self._publish_tokens()
        return result.info

    def resume_chat(self, file: Path | None) -> None:
        """Go on from a chat recording; from this conversation's own where none is given.

        Raises:
            ValueError: it is not a chat recording.
        """
        path = file or self._chat.recording.path
        conversation = load_conversation_record(path, self._services.clock) if path else None
        if path is None or conversation is None:
            raise ValueError(f"{path} is not a chat recording")
        turns = convert_session_to_client_history(conversation.messages)
        if not turns or turns[0][0] != ENVIRONMENT_CONTEXT_ID:
            turns.insert(0, self._environment())
        self._chat = self._start_chat(turns, ResumedSession(conversation, path))

    def rewind_chat(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        recording = self._chat.recording
        if isinstance(to, int):
            own = [m for m in recording.messages if m.get("type") == "user"]
            to = str(own[to].get("id")) if 0 <= to < len(own) else ""
        left = recording.rewind_to(to)
        if left is not None:
            self._chat.set_turns(convert_session_to_client_history(left))
            self._publish_tokens()

    def _start_chat(
        self, turns: Sequence[HistoryTurn] | None = None, resumed: ResumedSession | None = None
    ) -> GeminiChat:
        services = self._services
        recording = services.new_recording()
        recording.initialize(resumed=resumed)
        history = ensure_stable_tool_ids(turns or [self._environment()])
        self._declarations.restart()
        chat = GeminiChat(services, recording, history, self._declarations.taken)
        chat.bootstrap()
        services.compression.chat_started()
        services.spoken.history = chat.shown_history
        if services.hooks is not None:
            services.hooks.transcript = lambda: recording.path
        services.state.last_prompt_tokens = chat.last_prompt_token_count
        return chat

    def _environment(self) -> HistoryTurn:
        return (ENVIRONMENT_CONTEXT_ID, self._services.prompts.session_context())

    def _own_recording(self) -> ResumedSession | None:
        path = self._chat.recording.path
        if path is None:
            return None
        conversation = load_conversation_record(path, self._services.clock)
        return None if conversation is None else ResumedSession(conversation, path)

    def _publish_tokens(self) -> None:
        self._services.state.last_prompt_tokens = self._chat.last_prompt_token_count

    def _model_for_limits(self) -> str:
        state = self._services.state
        return state.sequence_model or self._services.models.concrete(
            state.active_model, custom_tools=False
        )

    async def send_message_stream(
        self,
        parts: list[Part],
        signal: AbortSignal,
        prompt_id: str,
        *,
        display_content: list[Part] | None = None,
        turns: int = MAX_TURNS,
        call: ClientCall | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Run one turn for `parts`, and what follows it by itself, and yield its events.

        `turns` is how many turns may follow each other without the user: recoveries from loops,
        continuations, and what AfterAgent hooks ask for. `call` is filled with what came of it.

        Raises:
            UnauthorizedError: the credentials were refused.
        """
        services, call = self._services, call or ClientCall()
        services.availability.reset_turn()
        previous = services.state.last_prompt_id
        if prompt_id != previous:
            self._loops.reset(prompt_id, part_list_to_string(parts, verbose=True))
            if self._hooks is not None:
                self._hooks.forget(previous)
            services.state.last_prompt_id = prompt_id
            services.state.sequence_model = None
        if self._hooks is not None:
            refusal, parts = await self._before_agent(self._hooks, parts, prompt_id, signal)
            if refusal is not None:
                yield refusal
                return
        continued = False
        turns = min(turns, MAX_TURNS)
        try:
            async with aclosing(
                self._process_turn(parts, signal, prompt_id, display_content, turns, call)
            ) as turn:
                async for event in turn:
                    yield event
            if self._hooks is not None:
                ended, again = await self._after_agent(self._hooks, parts, prompt_id, signal, call)
                if ended is not None:
                    yield ended
                    if ended.context_cleared:
                        self.reset_chat()
                if again is not None:
                    continued = turns > 1
                    async with aclosing(
                        self._go_on(again, signal, prompt_id, display_content, turns, call)
                    ) as more:
                        async for event in more:
                            yield event
        except Exception as error:  # cancellation is an event, everything else the caller's
            if not signal.aborted and not isinstance(error, AbortError):
                raise
            yield UserCancelled()
        finally:
            if self._hooks is not None and not continued:
                self._hooks.leave(
                    prompt_id, has_pending_calls=call.pending_calls, aborted=signal.aborted
                )

    async def _go_on(
        self,
        parts: list[Part],
        signal: AbortSignal,
        prompt_id: str,
        display_content: list[Part] | None,
        turns: int,
        call: ClientCall,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Send what an AfterAgent hook asks for, if the turns are not used up."""
        if turns <= 1 or self._hooks is None:
            # The core has no bound here: a hook that always blocks never ends.
            yield MaxSessionTurns()
            return
        self._hooks.resume_after_block(prompt_id)
        async with aclosing(
            self.send_message_stream(
                parts,
                signal,
                prompt_id,
                display_content=display_content,
                turns=turns - 1,
                call=call.continued(),
            )
        ) as more:
            async for event in more:
                yield event

    async def _before_agent(
        self, hooks: PromptHooks, parts: list[Part], prompt_id: str, signal: AbortSignal
    ) -> tuple[AgentExecutionStopped | AgentExecutionBlocked | None, list[Part]]:
        """What ends the call before it begins, if anything; and the request, perhaps with more."""
        said = await hooks.begin(prompt_id, parts, signal)
        if said is None:
            return None, parts
        if said.stops:
            self._chat.add_history({"role": "user", "parts": parts})
            return AgentExecutionStopped(said.reason, said.system_message), parts
        if said.blocks:
            return AgentExecutionBlocked(said.reason, said.system_message), parts
        if said.additional_context:
            parts = [*parts, {"text": f"<hook_context>{said.additional_context}</hook_context>"}]
        return None, parts

    async def _after_agent(
        self,
        hooks: PromptHooks,
        parts: list[Part],
        prompt_id: str,
        signal: AbortSignal,
        call: ClientCall,
    ) -> tuple[AgentExecutionStopped | AgentExecutionBlocked | None, list[Part] | None]:
        """What is told of AfterAgent, if anything; and the request that it makes necessary."""
        said = await hooks.after_agent(
            prompt_id,
            parts,
            response_text=call.turn.text if call.turn is not None else "",
            has_pending_calls=call.pending_calls,
            stop_hook_active=call.stop_hook_active,
            signal=signal,
        )
        if said is None:
            return None, None
        if said.stops:
            told = (said.reason, said.system_message, said.clears_context)
            return AgentExecutionStopped(*told), None
        if said.blocks:
            told = (said.reason, said.system_message, said.clears_context)
            return AgentExecutionBlocked(*told), [{"text": said.reason}]
        return None, None

    async def _process_turn(
        self,
        parts: list[Part],
        signal: AbortSignal,
        prompt_id: str,
        display_content: list[Part] | None,
        turns: int,
        call: ClientCall,
    ) -> AsyncGenerator[ServerEvent, None]:
        services = self._services
        self._session_turn_count += 1
        limit = services.settings.max_session_turns
        if 0 < limit < self._session_turn_count:
            yield MaxSessionTurns()
            return
        if turns <= 0:
            return
        checked_model = self._model_for_limits()
        if not services.settings.context_management:
            compressed = await self.compress(prompt_id, signal)
            if compressed.status is CompressionStatus.COMPRESSED:
                yield ChatCompressed(compressed)
        remaining = token_limit(checked_model) - self._chat.last_prompt_token_count
        self._chat.mask_tool_outputs()
        estimated = await request_token_count(
            parts, services.content_generator, checked_model, signal=signal, prompt_id=prompt_id
        )
        if estimated > remaining:
            yield ContextWindowWillOverflow(estimated, remaining)
            return
        after = _After()
        verdict = await self._loops.turn_started(signal)
        if verdict.count:
            self._take_loop(verdict, turns, after)
        else:
            async with aclosing(
                self._model_turn(parts, signal, prompt_id, display_content, turns, call, after)
            ) as events:
                async for event in events:
                    yield event
        if after.ended_with is not None:
            yield after.ended_with
        elif after.follow_up is not None:
            async with aclosing(
                self.send_message_stream(
                    after.follow_up,
                    signal,
                    prompt_id,
                    display_content=display_content,
                    turns=turns - 1,
                    call=call,
                )
            ) as more:
                async for event in more:
                    yield event

    async def _model_turn(
        self,
        parts: list[Part],
        signal: AbortSignal,
        prompt_id: str,
        display_content: list[Part] | None,
        turns: int,
        call: ClientCall,
        after: _After,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Choose the model, ask it, and watch its answer; `after` says how it goes on."""
        services, state = self._services, self._services.state
        turn = call.turn = Turn(services, self._chat, prompt_id)
        wanted = state.sequence_model or await self._route(parts, signal, prompt_id)
        key = ModelConfigKey(model=wanted, is_chat_model=True)
        model = services.availability.select(key, consume_attempt=False).model
        if not signal.aborted and state.sequence_model is None:
            yield ModelInfo(model)
        state.sequence_model = model
        failed = False
        async with aclosing(
            turn.run(key, parts, signal, display_content=display_content)
        ) as events:
            async for event in events:
                verdict = self._watched(event)
                if verdict.count:
                    self._take_loop(verdict, turns, after)
                    if after.ended_with is not None:  # an abort by who hears it undoes the turn
                        yield after.ended_with
                        after.ended_with = None
                    return
                yield event
                self._publish_tokens()
                failed = failed or isinstance(event, ModelFailed)
        if not failed:
            if self._hooks is not None:
                self._hooks.note_response(prompt_id, turn.text)
            after.follow_up = await self._continuation(turn, signal, prompt_id)

    def _watched(self, event: ServerEvent) -> LoopVerdict:
        if isinstance(event, ContentText):
            return self._loops.add_text(event.text)
        if isinstance(event, ToolCallRequested):
            return self._loops.add_tool_call(event.request.name, event.request.args)
        return self._loops.current()

    def _take_loop(self, verdict: LoopVerdict, turns: int, after: _After) -> None:
        """The first loop of a prompt is told to the model; the second ends the prompt."""
        if verdict.count > 1:
            after.ended_with = LoopDetected()
        elif turns <= 1:
            after.ended_with = MaxSessionTurns()
        else:
            self._loops.clear_detection()
            after.follow_up = [{"text": loop_feedback(verdict.detail)}]

    async def _continuation(
        self, turn: Turn, signal: AbortSignal, prompt_id: str
    ) -> list[Part] | None:
        """What is sent where the model was not done, as another model sees it."""
        services = self._services
        if turn.pending_tool_calls or signal.aborted:
            return None
        if services.state.quota_error_occurred or services.settings.skip_next_speaker_check:
            return None
        checked = await check_next_speaker(self._chat, services.utility, signal, prompt_id)
        if checked is None or checked.speaker != "model":
            return None
        return [{"text": CONTINUE_REQUEST}]

    async def _route(self, parts: list[Part], signal: AbortSignal, prompt_id: str) -> str:
        decision = await self._services.router.route(
            RoutingContext(
                history=self._chat.curated_history(),
                request=parts,
                signal=signal,
                requested_model=self._services.state.model,
                prompt_id=prompt_id,
            )
        )
        return decision.model
