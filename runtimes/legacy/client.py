"""`GeminiClient`: one turn after another under one prompt id, with the limits around them.

Source: core `core/client.ts`. What belongs to services that this build does not have yet
(compression, masking, loop detection, hooks, the next-speaker check) comes with them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from runtimes.legacy.chat import GeminiChat
from runtimes.legacy.events import (
    ContextWindowWillOverflow,
    MaxSessionTurns,
    ModelInfo,
    ServerEvent,
    UserCancelled,
)
from runtimes.legacy.turn import Turn
from services.abort import AbortError, AbortSignal
from services.bundle import Services
from services.model.configs import ModelConfigKey
from services.model.limits import token_limit
from services.model.names import resolve_model
from services.model.selection import apply_model_selection
from services.model.tokens import request_token_count
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.routing.router import RoutingContext
from services.wire import Content, JsonObject, Part

__all__ = ["GeminiClient"]


class GeminiClient:
    """The state of one conversation: its chat, its turn count, its sticky model."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._session_turn_count = 0
        self._last_prompt_id = services.state.session_id
        self._declared: tuple[object, list[JsonObject]] | None = None
        self._chat = self._start_chat()

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

    def _start_chat(self) -> GeminiChat:
        services = self._services
        recording = services.new_recording()
        context = (ENVIRONMENT_CONTEXT_ID, services.prompts.session_context())
        recording.initialize()
        chat = GeminiChat(services, recording, [context], self._tool_declarations)
        chat.bootstrap()
        return chat

    async def send_message_stream(
        self,
        parts: list[Part],
        signal: AbortSignal,
        prompt_id: str,
        *,
        display_content: list[Part] | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Run one turn for `parts` and yield its events.

        Raises:
            UnauthorizedError: the credentials were refused.
        """
        services = self._services
        if prompt_id != self._last_prompt_id:
            self._last_prompt_id = prompt_id
            services.state.sequence_model = None
        try:
            async with aclosing(
                self._process_turn(parts, signal, prompt_id, display_content)
            ) as turn:
                async for event in turn:
                    yield event
        except Exception as error:  # cancellation is an event, everything else the caller's
            if not signal.aborted and not isinstance(error, AbortError):
                raise
            yield UserCancelled()

    async def _process_turn(
        self,
        parts: list[Part],
        signal: AbortSignal,
        prompt_id: str,
        display_content: list[Part] | None,
    ) -> AsyncGenerator[ServerEvent, None]:
        services, state = self._services, self._services.state
        self._session_turn_count += 1
        limit = services.settings.max_session_turns
        if 0 < limit < self._session_turn_count:
            yield MaxSessionTurns()
            return
        checked_model = state.sequence_model or resolve_model(
            state.active_model, services.models.access
        )
        remaining = token_limit(checked_model) - self._chat.last_prompt_token_count
        estimated = await request_token_count(
            parts, services.content_generator, checked_model, signal=signal, prompt_id=prompt_id
        )
        if estimated > remaining:
            yield ContextWindowWillOverflow(estimated, remaining)
            return
        turn = Turn(services, self._chat, prompt_id)
        wanted = state.sequence_model or await self._route(parts, signal)
        key = ModelConfigKey(model=wanted, is_chat_model=True)
        model = apply_model_selection(key, models=services.models, state=state).model
        if not signal.aborted and state.sequence_model is None:
            yield ModelInfo(model)
        state.sequence_model = model
        async with aclosing(
            turn.run(key, parts, signal, display_content=display_content)
        ) as events:
            async for event in events:
                yield event

    async def _route(self, parts: list[Part], signal: AbortSignal) -> str:
        decision = await self._services.router.route(
            RoutingContext(
                history=self._chat.curated_history(),
                request=parts,
                signal=signal,
                requested_model=self._services.state.model,
            )
        )
        return decision.model

    def _tool_declarations(self, model: str) -> list[JsonObject]:
        """The request's `tools`; the same object as long as neither model nor mode changed."""
        key = (model, self._services.state.approval_mode)
        if self._declared is None or self._declared[0] != key:
            declarations = self._services.tools.declarations(model)
            self._declared = (key, [{"functionDeclarations": declarations}])
        return self._declared[1]
