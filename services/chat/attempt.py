"""`Attempt`: one attempt at an answer, from a config key to the beginning of a stream.

It retries the request, if necessary with another model. After a stream that breaks off or is
invalid, the runtime makes another `Attempt`.

Source: core `core/geminiChat.ts` `makeApiCallAndProcessStream`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from services.abort import AbortError, AbortSignal
from services.bundle import Services
from services.chat.history import ChatHistory
from services.history.transforms import (
    apply_retry_nudge,
    coalesce,
    ensure_signatures,
    strip_call_id_prefixes,
)
from services.hooks.model_call import HookVerdict, ModelCallHooks
from services.hooks.translation import HookModelRequest
from services.interaction.validation import account_validation
from services.model.classification import is_retryable_error, retry_error_type
from services.model.configs import ModelConfigKey
from services.model.errors import InvalidStreamError
from services.model.generator import ChunkStream, LlmRole, ModelRequest
from services.model.names import is_gemini2_model, supports_modern_features
from services.model.retry import AvailabilityContext, Retry
from services.settings import Settings
from services.state import RetryAttempt
from services.wire import Content, Json, JsonObject

__all__ = ["Attempt", "RequestEdits", "RequestParts", "retry_kind"]

_Tools = list[JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParts:
    """The parts of a chat's requests besides the history, of the main agent or a subagent."""

    role: LlmRole
    system_instruction: Callable[[], str]
    tools: Callable[[str], _Tools]
    """Returns the `tools` of a request to a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEdits:
    """Changes of one request by code that is not the product's, in the API's JSON."""

    model: str | None = None
    """The model for the request; configuration and tools stay those of the router's model."""
    config: Mapping[str, Json] = field(default_factory=dict)
    """Fields of the generation config; `None` removes a field."""
    instruction: Callable[[str], Json] | None = None
    """Maps the product's system instruction to the edited one; `None` removes it."""
    tools: Callable[[_Tools], _Tools | None] | None = None
    """Maps the product's tools to the edited ones; `None` removes them."""
    contents: list[Content] | None = None
    """Replaces the history and the pending turn."""

    def applied(self, config: JsonObject, instruction: str, tools: _Tools) -> JsonObject:
        """The config of a request: the product's fields, with the edits applied."""
        edited = dict(self.config)
        if self.instruction is not None:
            edited["systemInstruction"] = self.instruction(instruction)
        if self.tools is not None:
            edited["tools"] = self.tools(tools)
        found = {**config, "systemInstruction": instruction, "tools": tools, **edited}
        return {key: found[key] for key in found if found[key] is not None or key not in edited}


NO_EDITS: Final = RequestEdits()


class Attempt:
    """One model call, retried until the model begins to answer.

    The constructor chooses the current model of the key and uses one of its attempts.
    """

    def __init__(
        self,
        services: Services,
        history: ChatHistory,
        request_parts: RequestParts,
        *,
        key: ModelConfigKey,
        prompt_id: str,
        signal: AbortSignal,
        nudge: str | None,
        hooks: ModelCallHooks | None,
        edits: RequestEdits = NO_EDITS,
    ) -> None:
        """Choose the model.

        Args:
            services: The session's services.
            history: The conversation, with the turn of the request.
            request_parts: The other parts of the request.
            key: The key of the generation config.
            prompt_id: The prompt's id.
            signal: Ends the call and its waits.
            nudge: A text for the model after an invalid answer.
            hooks: May change each request.
            edits: Applied to each request before the hooks.
        """
        selection = services.availability.select(key)
        self._services = services
        self._history = history
        self._request_parts = request_parts
        self._key = key
        self._prompt_id = prompt_id
        self._signal = signal
        self._nudge = nudge
        self._hooks = hooks
        self._edits = edits
        self._routed, self._config = selection.model, selection.config
        self._model = self._routed
        self._active_at_start = services.state.active_model
        self._max_attempts = selection.max_attempts or services.settings.max_attempts

    async def connect(self) -> tuple[HookModelRequest, ChunkStream]:
        """The request that the model began to answer, and its answer.

        Raises:
            ApiError, NetworkError: the request failed.
            HookVerdict: a hook does not allow the request.
            AbortError: the signal was aborted.
        """
        services = self._services
        retry = Retry(
            clock=services.clock,
            rng=services.rng,
            signal=self._signal,
            max_attempts=self._max_attempts,
            retry_fetch_errors=services.settings.retry_fetch_errors,
            variables=services.environment.variables,
            on_persistent_429=self._fall_back,
            on_validation_required=account_validation(services.interaction, self._signal),
            availability_context=self._availability,
            on_retry=self._announce_retry,
        )
        return await retry.run(self._ask)

    async def _ask(self) -> tuple[HookModelRequest, ChunkStream]:
        services, edits, parts = self._services, self._edits, self._request_parts
        await self._follow_fallback()
        self._model = self._concrete(edits.model) if edits.model else self._routed
        # Instruction and tools may have changed since the last request.
        instruction, tools = parts.system_instruction(), parts.tools(self._routed)
        request = HookModelRequest(
            model=self._model,
            config=edits.applied(self._config, instruction, tools),
            contents=self._contents(self._model),
        )
        if self._hooks is not None:
            request = await self._hooks.before_attempt(
                request, concrete=self._concrete, nudge=self._nudge
            )
            if request.model != self._model:
                self._routed = self._model = request.model
        stream = await services.content_generator.generate_content_stream(
            ModelRequest(
                model=request.model,
                contents=request.contents,
                role=parts.role,
                prompt_id=self._prompt_id,
                signal=self._signal,
                config=dict(request.config),
            )
        )
        return request, stream

    async def _follow_fallback(self) -> None:
        """Use the session's active model, if it has changed since the call began."""
        services, wanted = self._services, self._routed
        if services.state.active_model != self._active_at_start:
            wanted = services.state.active_model
        wanted = self._concrete(wanted)
        await services.tools.settled()
        if wanted != self._routed:
            self._config = services.models.resolve(replace(self._key, model=wanted)).config
            self._routed = wanted

    def _concrete(self, name: str) -> str:
        return self._services.models.concrete(name, custom_tools=False)

    def _contents(self, model: str) -> list[Content]:
        """The contents for this model; an edit replaces the history."""
        if self._edits.contents is None:
            contents = self._history.request_contents(model)
        else:
            contents = coalesce(self._edits.contents)
            if supports_modern_features(model) or is_gemini2_model(model):
                contents = ensure_signatures(contents)
            contents = strip_call_id_prefixes(contents)
        return apply_retry_nudge(contents, self._nudge) if self._nudge else contents

    async def _fall_back(self, error: Exception) -> bool | None:
        return await self._services.availability.fall_back(self._model, error, self._signal)

    def _availability(self) -> AvailabilityContext | None:
        return self._services.availability.context(self._model)

    def _announce_retry(self, attempt: int, error: Exception, delay_ms: float) -> None:
        self._services.events.emit(
            RetryAttempt(
                attempt=attempt,
                max_attempts=self._max_attempts,
                delay_ms=delay_ms,
                error=str(error),
                model=self._model,
            )
        )


def retry_kind(error: Exception, settings: Settings, *, aborted: bool) -> str | None:
    """The kind of error in the announcement of another attempt; `None` without one.

    Args:
        error: The error of the stream.
        settings: Decide whether failed connections are retried.
        aborted: Whether the prompt is aborted. After an invalid answer this does not matter.
    """
    if isinstance(error, InvalidStreamError):
        return error.type
    if aborted or isinstance(error, AbortError | HookVerdict):
        return None
    return (
        retry_error_type(error) if is_retryable_error(error, settings.retry_fetch_errors) else None
    )
