"""The three events around a model call. Source: core `hooks/hookSystem.ts`, `hooks/types.ts`."""

from __future__ import annotations

import logging
from typing import Final

from services.abort import AbortSignal
from services.hooks.events import HookEvent
from services.hooks.firing import HookFiring
from services.hooks.results import (
    AfterModelResult,
    BeforeModelResult,
    HookOutput,
    ToolSelectionResult,
)
from services.hooks.translation import (
    HookModelRequest,
    changed_config,
    changed_contents,
    changed_model,
    response_for_hooks,
    response_from_hook,
)
from services.hooks.values import HookOutputError, mapping, truthy
from services.wire import Json, JsonObject

__all__ = ["ModelHooks"]

logger = logging.getLogger(__name__)

_NO_OPINION: Final = BeforeModelResult()


class ModelHooks:
    """Fires the model events and reads what comes of them."""

    def __init__(self, firing: HookFiring) -> None:
        self._firing = firing

    async def before_model(
        self, request: HookModelRequest, signal: AbortSignal | None
    ) -> BeforeModelResult:
        """See `HookSystem.before_model`."""
        event = HookEvent.BEFORE_MODEL
        output = await self._firing.fire(event, lambda: self._asked(request), signal=signal)
        if output is None:
            return _NO_OPINION
        if output.stops:
            return BeforeModelResult(stopped=True, blocked=True, reason=output.reason)
        try:
            if output.blocks:
                return BeforeModelResult(
                    blocked=True, reason=output.reason, synthetic_response=_synthetic(output)
                )
            said = output.specific("llm_request")
            return BeforeModelResult(
                model=changed_model(said, request),
                config=changed_config(said, request),
                contents=changed_contents(said, request),
            )
        except HookOutputError as problem:
            logger.warning("%s hooks go unheard: %s", event, problem)
            return _NO_OPINION

    async def before_tool_selection(
        self, request: HookModelRequest, signal: AbortSignal | None
    ) -> ToolSelectionResult:
        """See `HookSystem.before_tool_selection`."""
        output = await self._firing.fire(
            HookEvent.BEFORE_TOOL_SELECTION, lambda: self._asked(request), signal=signal
        )
        if output is None:
            return ToolSelectionResult()
        choice: Json = output.specific("toolConfig")
        return ToolSelectionResult(
            tool_config={"functionCallingConfig": choice},
            tools=list(request.config.get("tools") or ()),
        )

    async def after_model(
        self, request: HookModelRequest, chunk: JsonObject, signal: AbortSignal | None
    ) -> AfterModelResult:
        """See `HookSystem.after_model`."""
        event = HookEvent.AFTER_MODEL
        output = await self._firing.fire(
            event,
            lambda: {**self._asked(request), "llm_response": response_for_hooks(chunk)},
            request=request,
            signal=signal,
        )
        if output is None:
            return AfterModelResult(response=chunk)
        if output.stops or output.blocks:
            return AfterModelResult(
                response=chunk,
                stopped=output.stops,
                blocked=not output.stops,
                reason=output.reason,
            )
        said = output.specific("llm_response")
        try:
            return AfterModelResult(
                response=response_from_hook(said) if _has_parts(said) else chunk
            )
        except HookOutputError as problem:
            logger.warning("%s hooks go unheard: %s", event, problem)
            return AfterModelResult(response=chunk)

    def _asked(self, request: HookModelRequest) -> JsonObject:
        return {"llm_request": self._firing.request_input(request)}


def _synthetic(output: HookOutput) -> JsonObject | None:
    said = output.specific("llm_response")
    if not truthy(said):
        return None
    response = response_from_hook(said)
    for candidate in response["candidates"]:
        if not candidate.get("finishReason"):
            candidate["finishReason"] = "STOP"
    return response


def _has_parts(said: Json) -> bool:
    """True when the first candidate has a part, which is what makes a replacement one."""
    candidates = mapping(said).get("candidates")
    if not isinstance(candidates, list) or not candidates:
        return False
    return bool(mapping(mapping(candidates[0]).get("content")).get("parts"))
