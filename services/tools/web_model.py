"""Questions that tools ask a model, with the conversation's system prompt and its retries.

Unlike `BaseLlmClient` it accepts an empty answer. Upstream also writes a failure with its contents
into a file of the temporary folder; here it is a log line.

Source: core `core/client.ts`, `generateContent`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from services.abort import AbortSignal
from services.interaction.validation import account_validation
from services.model.configs import ModelConfigKey
from services.model.errors import ModelError, error_message
from services.model.generator import LlmRole, ModelRequest
from services.model.names import display_name
from services.model.retry import DEFAULT_MAX_ATTEMPTS, AvailabilityContext, Retry
from services.routing.opening import SessionModels
from services.session import Session
from services.state import RetryAttempt
from services.wire import JsonObject

__all__ = ["ClientModel"]

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Asked:
    """The model and config of a question; a fallback changes them between attempts."""

    model: str
    config: JsonObject
    active: str
    """The session's active model when `model` was chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientModel:
    """The `ToolModel` of a session."""

    session: Session
    models: SessionModels
    system_instruction: Callable[[], str]

    async def generate_content(self, config_key: str, text: str, signal: AbortSignal) -> JsonObject:
        """The whole response to `text`.

        Raises:
            ModelError: `Failed to generate content with model M: …`.
            AbortError: `signal` was aborted.
        """
        key = ModelConfigKey(model=config_key)
        resolved = self.models.configs.resolve(key)
        asked = _Asked(resolved.model, resolved.config, self.session.state.active_model)
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
        session, models, state = self.session, self.models, self.session.state
        instruction = self.system_instruction()
        selection = models.availability.select(key)
        asked.model, asked.config = selection.model, selection.config
        asked.active = state.active_model
        contents = [{"role": "user", "parts": [{"text": text}]}]

        async def ask() -> JsonObject:
            active = state.active_model
            if active != asked.active:
                again = models.configs.resolve(replace(key, model=active))
                asked.model, asked.config, asked.active = again.model, again.config, active
            return await session.content_generator.generate_content(
                ModelRequest(
                    model=asked.model,
                    contents=contents,
                    role=LlmRole.UTILITY_TOOL,
                    prompt_id=state.prompt_id,
                    signal=signal,
                    config={**asked.config, "systemInstruction": instruction},
                )
            )

        def context() -> AvailabilityContext | None:
            return models.availability.context(asked.model)

        async def fall_back(error: Exception) -> str | bool | None:
            return await models.availability.fall_back(asked.model, error, signal)

        def on_retry(attempt: int, error: Exception, delay_ms: float) -> None:
            session.events.emit(
                RetryAttempt(
                    attempt=attempt,
                    # As upstream, the session's own limit is reported and not applied.
                    max_attempts=selection.max_attempts or session.settings.max_attempts,
                    delay_ms=delay_ms,
                    error=str(error),
                    model=display_name(asked.model),
                )
            )

        retry = Retry(
            clock=session.clock,
            rng=session.rng,
            signal=signal,
            max_attempts=selection.max_attempts or DEFAULT_MAX_ATTEMPTS,
            retry_fetch_errors=session.settings.retry_fetch_errors,
            auth_type=models.auth_type,
            variables=session.environment.variables,
            on_persistent_429=fall_back,
            on_validation_required=account_validation(session.interaction, signal),
            on_retry=on_retry,
            availability_context=context,
        )
        return await retry.run(ask)
