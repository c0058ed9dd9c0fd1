"""The hooks around one request to the model, and what their outputs change.

Source: core `core/geminiChat.ts` (`makeApiCallAndProcessStream`, `processStreamResponse`),
`hooks/hookSystem.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from services.history.transforms import apply_retry_nudge
from services.hooks.results import HookOutput
from services.hooks.system import HookSystem
from services.hooks.translation import (
    HookModelRequest,
    changed_config,
    changed_contents,
    changed_model,
    response_from_hook,
)
from services.hooks.values import HookOutputError, mapping
from services.wire import Json, JsonObject, js_truthy

__all__ = [
    "AgentExecutionBlocked",
    "AgentExecutionStopped",
    "HookVerdict",
    "ModelCallHooks",
]

logger = logging.getLogger(__name__)


class HookVerdict(Exception):
    """A hook ended the model's turn. It is no failure: nothing is retried or rolled back."""

    code: ClassVar[str]
    """The verdict's code for clients."""

    def __init__(self, reason: str, response: JsonObject | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.response = response
        """The response in the answer's place, if there is one."""


class AgentExecutionStopped(HookVerdict):
    """The hook ends the whole stream."""

    code = "AGENT_EXECUTION_STOPPED"


class AgentExecutionBlocked(HookVerdict):
    """The hook blocks this answer."""

    code = "AGENT_EXECUTION_BLOCKED"


class ModelCallHooks:
    """BeforeModel, BeforeToolSelection and AfterModel around each attempt to ask the model."""

    def __init__(self, hooks: HookSystem) -> None:
        self._hooks = hooks

    async def before_attempt(
        self,
        request: HookModelRequest,
        *,
        concrete: Callable[[str], str] = str,
        nudge: str | None = None,
    ) -> HookModelRequest:
        """The request after BeforeModel and BeforeToolSelection.

        Args:
            request: The request that is about to be sent.
            concrete: The model that a name means.
            nudge: The text that a retry adds to the contents, if any.

        Raises:
            AgentExecutionStopped, AgentExecutionBlocked: a hook does not allow the request.
        """
        output = await self._hooks.before_model(request)
        if output is not None:
            try:
                request = _changed(output, request, concrete)
            except HookOutputError as problem:
                logger.warning("BeforeModel hooks are ignored: %s", problem)
            else:
                if nudge:
                    contents = apply_retry_nudge(request.contents, nudge)
                    request = replace(request, contents=contents)
        chosen = await self._hooks.before_tool_selection(request)
        if chosen is None:
            return request
        choice = {
            "toolConfig": {"functionCallingConfig": chosen.specific("toolConfig")},
            "tools": list(request.config.get("tools") or ()),
        }
        return replace(request, config={**request.config, **choice})

    async def after_chunk(self, request: HookModelRequest, chunk: JsonObject) -> JsonObject:
        """The chunk that clients get after AfterModel; the history keeps the model's own.

        Args:
            request: The request that was sent; the same object for all chunks of one answer.
            chunk: The API's JSON.

        Raises:
            AgentExecutionStopped, AgentExecutionBlocked: a hook does not allow the chunk.
        """
        output = await self._hooks.after_model(request, chunk)
        if output is None:
            return chunk
        if output.stops:
            raise AgentExecutionStopped(output.reason)
        if output.blocks:
            raise AgentExecutionBlocked(output.reason, chunk)
        said = output.specific("llm_response")
        try:
            return response_from_hook(said) if _has_parts(said) else chunk
        except HookOutputError as problem:
            logger.warning("AfterModel hooks are ignored: %s", problem)
            return chunk


def _changed(
    output: HookOutput, request: HookModelRequest, concrete: Callable[[str], str]
) -> HookModelRequest:
    """`request` as the output of BeforeModel changes it.

    Raises:
        AgentExecutionStopped, AgentExecutionBlocked: the output does not allow the request.
        HookOutputError: the output cannot be read.
    """
    if output.stops:
        raise AgentExecutionStopped(output.reason)
    if output.blocks:
        raise AgentExecutionBlocked(output.reason, _synthetic(output))
    said = output.specific("llm_request")
    return HookModelRequest(
        model=concrete(changed_model(said, request)),
        config=changed_config(said, request),
        contents=changed_contents(said, request),
    )


def _synthetic(output: HookOutput) -> JsonObject | None:
    """The answer that a hook gives in the model's place; every candidate has a finish reason."""
    said = output.specific("llm_response")
    if not js_truthy(said):
        return None
    response = response_from_hook(said)
    for candidate in response["candidates"]:
        if not candidate.get("finishReason"):
            candidate["finishReason"] = "STOP"
    return response


def _has_parts(said: Json) -> bool:
    """Whether the first candidate has a part. A response without one replaces no chunk."""
    candidates = mapping(said).get("candidates")
    if not isinstance(candidates, list) or not candidates:
        return False
    return bool(mapping(mapping(candidates[0]).get("content")).get("parts"))
