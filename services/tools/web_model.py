"""Questions that tools ask a model: with the conversation's system prompt, and its retries.

Unlike `BaseLlmClient` it takes an empty answer for an answer. Source: core `core/client.ts`,
`generateContent`. Upstream also writes a failure, contents included, into a file of the temporary
folder; here it is a log line.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from services.abort import AbortSignal
from services.clock import Clock
from services.ids import RandomSource
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.errors import ModelError, error_message
from services.model.generator import ContentGenerator, LlmRole, ModelRequest
from services.model.names import display_name
from services.model.retry import DEFAULT_MAX_ATTEMPTS, AvailabilityContext, Retry
from services.model.selection import ModelAvailability, Selection, apply_model_selection
from services.state import CoreEvents, RetryAttempt, SessionState
from services.wire import JsonObject

__all__ = ["ClientModel"]

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Asked:
    """What is asked, which a fallback changes between attempts."""

    model: str
    config: JsonObject
    active: str
    """The session's active model when `model` was settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientModel:
    """The `ToolModel` of a session."""

    generator: ContentGenerator
    models: ModelConfigs
    state: SessionState
    events: CoreEvents
    clock: Clock
    rng: RandomSource
    system_instruction: Callable[[], str]
    retry_fetch_errors: bool = True
    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    """The session's own limit: told to whoever watches retries, as upstream does, nothing more."""
    auth_type: str | None = None
    variables: Mapping[str, str] | None = None
    availability: ModelAvailability | None = None

    async def generate_content(self, config_key: str, text: str, signal: AbortSignal) -> JsonObject:
        """The whole response to `text`.

        Raises:
            ModelError: `Failed to generate content with model M: …`.
            AbortError: `signal` was aborted.
        """
        key = ModelConfigKey(model=config_key)
        resolved = self.models.resolve(key)
        asked = _Asked(resolved.model, resolved.config, self.state.active_model)
        try:
            return await self._ask(key, text, signal, asked)
        except Exception as error:
            if signal.aborted:
                raise
            message = error_message(error)
            logger.warning("a tool's question to %s failed: %s", asked.model, message)
            raise ModelError(
                f"Failed to generate content with model {asked.model}: {message}"
            ) from error

    async def _ask(
        self, key: ModelConfigKey, text: str, signal: AbortSignal, asked: _Asked
    ) -> JsonObject:
        instruction = self.system_instruction()
        selection = self._select(key)
        asked.model, asked.config = selection.model, selection.config
        asked.active = self.state.active_model
        contents = [{"role": "user", "parts": [{"text": text}]}]

        async def ask() -> JsonObject:
            active = self.state.active_model
            if active != asked.active:
                again = self.models.resolve(replace(key, model=active))
                asked.model, asked.config, asked.active = again.model, again.config, active
            return await self.generator.generate_content(
                ModelRequest(
                    model=asked.model,
                    contents=contents,
                    role=LlmRole.UTILITY_TOOL,
                    prompt_id=self.state.prompt_id,
                    signal=signal,
                    config={**asked.config, "systemInstruction": instruction},
                )
            )

        def context() -> AvailabilityContext | None:
            return None if self.availability is None else self.availability.context(asked.model)

        async def fall_back(error: Exception) -> str | bool | None:
            if self.availability is None:
                return None
            return await self.availability.fall_back(asked.model, error)

        def on_retry(attempt: int, error: Exception, delay_ms: float) -> None:
            self.events.emit(
                RetryAttempt(
                    attempt=attempt,
                    max_attempts=selection.max_attempts or self.max_attempts,
                    delay_ms=delay_ms,
                    error=str(error),
                    model=display_name(asked.model),
                )
            )

        retry = Retry(
            clock=self.clock,
            rng=self.rng,
            signal=signal,
            max_attempts=selection.max_attempts or DEFAULT_MAX_ATTEMPTS,
            retry_fetch_errors=self.retry_fetch_errors,
            auth_type=self.auth_type,
            variables=self.variables or {},
            on_persistent_429=fall_back,
            on_retry=on_retry,
            availability_context=context,
        )
        return await retry.run(ask)

    def _select(self, key: ModelConfigKey) -> Selection:
        if self.availability is not None:
            return self.availability.select(key)
        return apply_model_selection(key, models=self.models, state=self.state)
