"""`ModelCall`: from a config key to a stream that has begun, through retries and fallbacks.

Source: core `core/geminiChat.ts` `makeApiCallAndProcessStream`.
"""

from __future__ import annotations

from dataclasses import replace

from runtimes.legacy.request_parts import ChatRequestParts
from services.abort import AbortSignal
from services.bundle import Services
from services.chat import ChatHistory
from services.history.transforms import apply_retry_nudge
from services.hooks.model_call import ModelCallHooks
from services.hooks.system import HookSystem
from services.hooks.translation import HookModelRequest
from services.model.configs import ModelConfigKey
from services.model.generator import ChunkStream, ModelRequest
from services.model.retry import retry_with_backoff
from services.state import RetryAttempt
from services.wire import Content

__all__ = ["ModelCall"]


class ModelCall:
    """One call of the model, asked again until it begins to answer.

    Making it chooses the model that the key means now, and takes up one of its attempts.
    """

    def __init__(
        self,
        services: Services,
        history: ChatHistory,
        request_parts: ChatRequestParts,
        *,
        key: ModelConfigKey,
        prompt_id: str,
        signal: AbortSignal,
        nudge: str | None,
    ) -> None:
        """Choose the model.

        Args:
            services: The session's.
            history: The conversation to be sent, the request's own turn included.
            request_parts: What the request carries besides the conversation.
            key: Whose config is wanted.
            prompt_id: The prompt's.
            signal: Ends the call and its waits.
            nudge: What an invalid answer makes it say to the model, if anything.
        """
        selection = services.availability.select(key)
        self._services = services
        self._history = history
        self._request_parts = request_parts
        self._key = key
        self._prompt_id = prompt_id
        self._signal = signal
        self._nudge = nudge
        self._model, self._config = selection.model, selection.config
        self._active_at_start = services.state.active_model
        self._max_attempts = selection.max_attempts or services.settings.max_attempts

    async def connect(self) -> tuple[HookModelRequest, ChunkStream]:
        """What the model was asked when it began to answer, and its answer.

        Raises:
            ApiError, NetworkError: the model could not be asked.
            HookVerdict: a hook will not have it asked.
            AbortError: the signal was aborted.
        """
        services = self._services
        return await retry_with_backoff(
            self._ask,
            clock=services.clock,
            rng=services.rng,
            signal=self._signal,
            max_attempts=self._max_attempts,
            retry_fetch_errors=services.settings.retry_fetch_errors,
            variables=services.environment.variables,
            on_persistent_429=lambda auth, error: services.availability.fall_back(
                self._model, auth, error
            ),
            availability_context=lambda: services.availability.context(self._model),
            on_retry=self._tell_retry,
        )

    async def _ask(self) -> tuple[HookModelRequest, ChunkStream]:
        services = self._services
        await self._follow_fallback()
        request = HookModelRequest(
            model=self._model,
            config={
                **self._config,
                "systemInstruction": self._request_parts.system_instruction(),
                "tools": self._request_parts.tools(self._model),
            },
            contents=self._contents(self._model),
        )
        if services.hooks is not None:
            request = await self._hooks(services.hooks).before(request)
            self._model = request.model
        stream = await services.content_generator.generate_content_stream(
            ModelRequest(
                model=request.model,
                contents=request.contents,
                role=self._request_parts.role,
                prompt_id=self._prompt_id,
                signal=self._signal,
                config=dict(request.config),
            )
        )
        return request, stream

    async def _follow_fallback(self) -> None:
        """Go on with the session's model where that has changed since the call began."""
        services, wanted = self._services, self._model
        if services.state.active_model != self._active_at_start:
            wanted = services.state.active_model
        wanted = services.models.concrete(wanted, custom_tools=False)
        await services.tools.settled()
        if wanted != self._model:
            self._config = services.models.resolve(replace(self._key, model=wanted)).config
            self._model = wanted

    def _hooks(self, hooks: HookSystem) -> ModelCallHooks:
        models = self._services.models
        return ModelCallHooks(
            hooks,
            contents_for=self._contents,
            concrete=lambda name: models.concrete(name, custom_tools=False),
            nudge=self._nudge,
        )

    def _contents(self, model: str) -> list[Content]:
        contents = self._history.request_contents(model)
        return apply_retry_nudge(contents, self._nudge) if self._nudge else contents

    def _tell_retry(self, attempt: int, error: Exception, delay_ms: float) -> None:
        self._services.events.emit(
            RetryAttempt(
                attempt=attempt,
                max_attempts=self._max_attempts,
                delay_ms=delay_ms,
                error=str(error),
                model=self._model,
            )
        )
