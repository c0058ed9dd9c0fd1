"""`BaseLlmClient`: the `UtilityModel` over a `ContentGenerator`.

A utility request is not part of a conversation: it resolves its model config by key, retries until
the answer is usable, and changes neither history nor recording. Source: core
`core/baseLlmClient.ts`, with two differences. Upstream writes every failure with its contents to a
temporary file; this client logs a line. Upstream's waits between attempts ignore an abort; here an
abort ends them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NoReturn

from services.clock import Clock
from services.ids import RandomSource
from services.json_values import refuse_constant
from services.model.classification import retry_error_type
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.errors import ModelError, error_message
from services.model.generator import ContentGenerator, ModelRequest
from services.model.names import display_name
from services.model.parts import response_text
from services.model.retry import AvailabilityContext, Retry
from services.model.selection import ModelAvailability, Selection, apply_model_selection
from services.model.utility import UtilityRequest
from services.state import CoreEvents, RetryAttempt, SessionState
from services.wire import Json, JsonObject, js_trim

__all__ = ["BaseLlmClient"]

logger = logging.getLogger(__name__)

_MAX_ATTEMPTS: Final = 5
_JSON_FENCE: Final = "```json"
_FENCE: Final = "```"


@dataclass(slots=True)
class _Asked:
    """The model of the next attempt and its config; a fallback changes both."""

    key: ModelConfigKey
    model: str
    config: JsonObject
    active: str
    """The session's active model when `model` was chosen."""

    def follow(self, active: str, models: ModelConfigs) -> None:
        if active != self.active:
            self.active = active
            resolved = models.resolve(replace(self.key, model=active))
            self.model, self.config = resolved.model, resolved.config


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    request: UtilityRequest
    wanted_again: Callable[[JsonObject], bool]
    """Whether an answer must be requested again."""
    config: JsonObject = field(default_factory=dict)
    """Merged over the model's config, in the order of the wire."""


class BaseLlmClient:
    """Sends utility requests. One per session; it keeps no state between requests."""

    def __init__(
        self,
        *,
        generator: ContentGenerator,
        models: ModelConfigs,
        state: SessionState,
        events: CoreEvents,
        clock: Clock,
        rng: RandomSource,
        retry_fetch_errors: bool,
        auth_type: str | None = None,
        variables: Mapping[str, str] | None = None,
        availability: ModelAvailability | None = None,
    ) -> None:
        """Make the client of a session.

        Args:
            generator: The model seam.
            models: Resolves a request's `config_key`.
            state: The active model, and whether a user can be asked about a fallback.
            events: Receives every retry.
            clock: Times the waits.
            rng: Their jitter.
            retry_fetch_errors: Whether to retry failures to fetch.
            auth_type: How the session signed in; decides on the quota tip.
            variables: The environment; it may name the user's own cloud project.
            availability: The models' health and policies; without it every model is healthy.
        """
        self._generator = generator
        self._models = models
        self._state = state
        self._events = events
        self._clock = clock
        self._rng = rng
        self._retry_fetch_errors = retry_fetch_errors
        self._auth_type = auth_type
        self._variables = variables
        self._availability = availability

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        """Return the answer as a JSON object. An answer that is not JSON is requested again.

        Raises:
            ModelError: the call failed (`Failed to generate content: …`), or the JSON is not an
                object.
            AbortError: the request's signal was aborted.
        """
        response = await self._ask(
            _Question(
                request=request,
                wanted_again=_is_no_json,
                config={"responseJsonSchema": schema, "responseMimeType": "application/json"},
            ),
            "generateJson",
        )
        text = js_trim(response_text(response) or "")
        if _is_fenced(text):
            model = response.get("modelVersion") or request.config_key
            self._state.log(
                "malformed_json_response",
                f"Malformed JSON response from {model}.",
                {"model": model},
            )
        parsed = _parse(text)
        if not isinstance(parsed, dict):
            raise ModelError("Invalid JSON response format from LLM")
        return parsed

    async def generate_content(self, request: UtilityRequest) -> JsonObject:
        """Return the whole response. A response without text is requested again.

        Raises:
            ModelError: the call failed: `Failed to generate content: …`.
            AbortError: the request's signal was aborted.
        """
        question = _Question(request=request, wanted_again=_is_silent)
        return await self._ask(question, "generateContent")

    async def _ask(self, question: _Question, name: str) -> JsonObject:
        request = question.request
        key = ModelConfigKey(model=request.config_key, override_scope=request.override_scope)
        selection = self._select(key)
        asked = _Asked(key, selection.model, selection.config, self._state.active_model)
        try:
            return await self._retry(question, asked, selection.max_attempts)
        except Exception as error:
            if request.signal.aborted:
                raise
            self._fail(error, name)

    async def _retry(self, question: _Question, asked: _Asked, limit: int | None) -> JsonObject:
        request, availability = question.request, self._availability
        requested = _MAX_ATTEMPTS if request.max_attempts is None else request.max_attempts
        instruction = request.system_instruction
        on_top = {"systemInstruction": instruction} if instruction else {}

        async def ask() -> JsonObject:
            asked.follow(self._state.active_model, self._models)
            return await self._generator.generate_content(
                ModelRequest(
                    model=asked.model,
                    contents=request.contents,
                    role=request.role,
                    prompt_id=request.prompt_id,
                    signal=request.signal,
                    config={**asked.config, **on_top, **question.config},
                )
            )

        def context() -> AvailabilityContext | None:
            return None if availability is None else availability.context(asked.model)

        async def fall_back(error: Exception) -> str | bool | None:
            if availability is None:
                return None
            return await availability.fall_back(asked.model, error, request.signal)

        def on_retry(attempt: int, error: Exception, delay_ms: float) -> None:
            policy = context()
            own = None if policy is None else policy.max_attempts
            self._events.emit(
                RetryAttempt(
                    attempt=attempt,
                    max_attempts=requested if own is None else own,
                    delay_ms=delay_ms,
                    error=retry_error_type(error),
                    model=display_name(asked.model),
                )
            )

        retry = Retry(
            clock=self._clock,
            rng=self._rng,
            signal=request.signal,
            max_attempts=requested if limit is None else limit,
            retry_fetch_errors=self._retry_fetch_errors,
            auth_type=self._auth_type,
            variables=self._variables or {},
            on_persistent_429=fall_back if self._state.interactive else None,
            on_retry=on_retry,
            availability_context=context,
            asks_after_abort=True,
        )
        return await retry.run(ask, should_retry_on_content=question.wanted_again)

    def _select(self, key: ModelConfigKey) -> Selection:
        if self._availability is not None:
            return self._availability.select(key)
        return apply_model_selection(key, models=self._models, state=self._state)

    def _fail(self, error: Exception, name: str) -> NoReturn:
        """Raise a failure as upstream does: with its message, without its class."""
        message = error_message(error)
        logger.debug("%s failed: %s", name, message)
        raise ModelError(f"Failed to generate content: {message}") from error


def _is_silent(response: JsonObject) -> bool:
    return not js_trim(response_text(response) or "")


def _is_no_json(response: JsonObject) -> bool:
    text = js_trim(response_text(response) or "")
    if not text:
        return True
    try:
        _parse(text)
    except (ValueError, RecursionError):
        return True
    return False


def _is_fenced(text: str) -> bool:
    return text.startswith(_JSON_FENCE) and text.endswith(_FENCE)


def _parse(text: str) -> Json:
    if _is_fenced(text):
        text = js_trim(text[len(_JSON_FENCE) : -len(_FENCE)])
        logger.debug("a JSON answer came in a markdown fence")
    return json.loads(text, parse_constant=refuse_constant)
