"""The strategies that ask a model how complex a request is.

A strategy that fails leaves the decision to the next one. Source: core
`routing/strategies/{classifier,numericalClassifier}Strategy.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.availability.health import ModelAvailabilityService
from services.clock import Clock
from services.ids import RandomSource
from services.model.configs import ModelConfigs
from services.model.generator import LlmRole
from services.model.names import normalize_model_id
from services.model.utility import UtilityModel, UtilityRequest
from services.routing.contents import (
    complexity,
    conversation_window,
    is_function_response,
    model_choice,
    recent_window,
    user_content,
)
from services.routing.decision import RoutingContext, RoutingDecision
from services.routing.instructions import (
    CHOICE_INSTRUCTION,
    CHOICE_SCHEMA,
    SCORE_INSTRUCTION,
    SCORE_SCHEMA,
)
from services.state import SessionState
from services.wire import Content, JsonObject, js_json

__all__ = ["THRESHOLD", "ClassifierParts", "ClassifierStrategy", "NumericalClassifierStrategy"]

logger = logging.getLogger(__name__)

THRESHOLD: Final = 90
"""The lowest score for which a request goes to the pro model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierParts:
    """The parts that both classifiers use."""

    models: ModelConfigs
    state: SessionState
    health: ModelAvailabilityService
    utility: UtilityModel
    clock: Clock
    rng: RandomSource

    def requested(self, context: RoutingContext) -> str:
        """Return the requested model."""
        return self.state.model if context.requested_model is None else context.requested_model

    def scores(self, model: str) -> bool:
        """Whether requests for `model` are rated with a score."""
        return self.models.is_gemini3(model)

    async def ask(
        self,
        context: RoutingContext,
        contents: Sequence[Content],
        instruction: str,
        schema: JsonObject,
    ) -> JsonObject:
        """The classifier's answer about `contents`."""
        return await self.utility.generate_json(
            UtilityRequest(
                config_key="classifier",
                contents=contents,
                role=LlmRole.UTILITY_ROUTER,
                prompt_id=context.prompt_id or self._own_prompt_id(),
                signal=context.signal,
                system_instruction=instruction,
            ),
            schema,
        )

    def model_of(self, requested: str, tier: str) -> str | None:
        """Return the model of `tier`; log and return None where it is unavailable."""
        model = normalize_model_id(self.models.for_tier(normalize_model_id(requested), tier))
        snapshot = self.health.snapshot(model)
        if snapshot.available:
            return model
        logger.warning("routing chose %s, which is unavailable (%s)", model, snapshot.reason)
        return None

    def _own_prompt_id(self) -> str:
        chance = format(int(self.rng.random() * 16**13), "013x").rstrip("0")
        return f"classifier-router-fallback-{self.clock.now_ms()}-{chance}"


@dataclass(frozen=True, slots=True)
class ClassifierStrategy:
    """Chooses flash for simple and pro for complex requests; not for the Gemini 3 family."""

    parts: ClassifierParts
    name: str = "classifier"

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Decide, unless the request answers a tool call.

        Raises:
            Exception: there is no usable answer. The router goes on without this strategy.
        """
        parts = self.parts
        started_ms = parts.clock.now_ms()
        requested = parts.requested(context)
        if parts.scores(requested):
            return None
        request = user_content(context.request)
        # The window has no tool calls, so a request that answers one would be invalid.
        if is_function_response(request):
            return None
        answer = await parts.ask(
            context,
            [*conversation_window(context.history), request],
            CHOICE_INSTRUCTION,
            CHOICE_SCHEMA,
        )
        tier, reasoning = model_choice(answer)
        latency_ms = parts.clock.now_ms() - started_ms
        model = parts.model_of(requested, tier)
        if model is None:
            return None
        return RoutingDecision(
            model=model, source="Classifier", reasoning=reasoning, latency_ms=latency_ms
        )


@dataclass(frozen=True, slots=True)
class NumericalClassifierStrategy:
    """Rates a request from 1 to 100 and chooses pro from `THRESHOLD` on; for Gemini 3."""

    parts: ClassifierParts
    name: str = "numerical_classifier"

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Decide, unless all turns are tool turns.

        Raises:
            Exception: there is no usable answer. The router goes on without this strategy.
        """
        parts = self.parts
        started_ms = parts.clock.now_ms()
        requested = parts.requested(context)
        if not parts.scores(requested):
            return None
        window = recent_window(context.history)
        if not window and is_function_response(user_content(context.request)):
            return None
        answer = await parts.ask(
            context,
            [*window, user_content([_as_text(part) for part in context.request])],
            SCORE_INSTRUCTION,
            SCORE_SCHEMA,
        )
        score, reasoning = complexity(answer)
        model = parts.model_of(requested, "pro" if score >= THRESHOLD else "flash")
        if model is None:
            return None
        return RoutingDecision(
            model=model,
            source="NumericalClassifier (Default)",
            reasoning=f"[Score: {js_json(score)} / Threshold: {THRESHOLD}] {reasoning}",
            latency_ms=parts.clock.now_ms() - started_ms,
        )


def _as_text(part: JsonObject | str) -> JsonObject:
    """Only the text of a part that has one, or is one."""
    if isinstance(part, str):
        return {"text": part}
    return {"text": part["text"]} if part.get("text") else part
