"""`GemmaClassifierStrategy`: a small model on this machine decides. Off unless switched on.

Source: core `routing/strategies/gemmaClassifierStrategy.ts`, `core/localLiteRtLmClient.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.clock import Clock
from services.json_values import parse_json
from services.model.accessors import sdk_text
from services.model.configs import ModelConfigs
from services.model.errors import ModelError
from services.model.generator import ContentGenerator, LlmRole, ModelRequest
from services.routing.contents import conversation_window, model_choice, user_content
from services.routing.decision import RoutingContext, RoutingDecision
from services.routing.instructions import LOCAL_INSTRUCTION, LOCAL_REMINDER
from services.state import SessionState
from services.wire import Content, JsonObject

__all__ = ["GemmaClassifierStrategy"]

logger = logging.getLogger(__name__)

_TESTED_MODEL: Final = "gemma3-1b-gpu-custom"
_MAX_TOKENS: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class GemmaClassifierStrategy:
    """Simple or complex: flash or pro, as a local model sees it. Health plays no part.

    Attributes:
        generator: The endpoint on this machine; it should give up after ten seconds.
        model: What the endpoint serves.
    """

    models: ModelConfigs
    state: SessionState
    clock: Clock
    generator: ContentGenerator | None
    model: str = _TESTED_MODEL
    name: str = "gemma-classifier"

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        """Decide, unless no usable answer comes.

        Raises:
            ModelError: the setting names another model, or there is no endpoint.
        """
        started_ms = self.clock.now_ms()
        if self.model != _TESTED_MODEL:
            raise ModelError(f"Only {_TESTED_MODEL} has been tested")
        if self.generator is None:
            raise ModelError("The local classifier has no endpoint.")
        try:
            window = [*conversation_window(context.history), user_content(context.request)]
            answer = await self._ask(self.generator, flattened(window), context)
            tier, reasoning = model_choice(answer)
        except Exception:  # a classifier is a convenience: without it routing goes on
            logger.debug("[Routing] GemmaClassifierStrategy failed", exc_info=True)
            return None
        latency_ms = self.clock.now_ms() - started_ms
        requested = context.requested_model
        return RoutingDecision(
            model=self.models.for_tier(self.state.model if requested is None else requested, tier),
            source="GemmaClassifier",
            reasoning=reasoning,
            latency_ms=latency_ms,
        )

    async def _ask(
        self, generator: ContentGenerator, prompt: str, context: RoutingContext
    ) -> JsonObject:
        response = await generator.generate_content(
            ModelRequest(
                model=self.model,
                contents=[user_content([f"{prompt}\n\n{LOCAL_REMINDER}"])],
                role=LlmRole.UTILITY_ROUTER,
                prompt_id=context.prompt_id or "classifier-router",
                signal=context.signal,
                config={
                    "responseMimeType": "application/json",
                    "systemInstruction": LOCAL_INSTRUCTION,
                    "temperature": 0,
                    "maxOutputTokens": _MAX_TOKENS,
                },
            )
        )
        answer = parse_json(sdk_text(response) or "null")
        if not isinstance(answer, dict):
            raise ModelError("Invalid JSON response format from Local LLM")
        return answer


def flattened(turns: Sequence[Content]) -> str:
    """The turns as one text, the last of them as the request: the model knows no conversation."""
    history = "\n\n".join(filter(None, ("\n".join(_texts(turn)) for turn in turns[:-1])))
    request = "\n\n".join(_texts(turns[-1]))
    return (
        "You are provided with a **Chat History** and the user's **Current Request** below.\n\n"
        f"#### Chat History:\n{history}\n\n"
        f'#### Current Request:\n"{request}"\n'
    )


def _texts(turn: Content) -> Iterable[str]:
    return [part["text"] for part in turn.get("parts") or () if part.get("text")]
