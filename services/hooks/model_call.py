"""One attempt to ask the model, as hooks take part in it.

Source: core `core/geminiChat.ts`, `makeApiCallAndProcessStream` and `processStreamResponse`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.history.transforms import apply_retry_nudge
from services.hooks.system import HookSystem
from services.hooks.translation import HookModelRequest
from services.wire import Content, JsonObject

__all__ = [
    "AgentExecutionBlocked",
    "AgentExecutionStopped",
    "HookVerdict",
    "ModelCallHooks",
    "after_model",
]


class HookVerdict(Exception):
    """A hook has ended the model's turn. No failure: nothing is retried, nothing rolled back."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AgentExecutionStopped(HookVerdict):
    """The whole stream is over."""


class AgentExecutionBlocked(HookVerdict):
    """This answer is not given; `response` is what takes its place, if anything does."""

    def __init__(self, reason: str, response: JsonObject | None) -> None:
        super().__init__(reason)
        self.response = response


@dataclass(frozen=True, slots=True)
class ModelCallHooks:
    """The hooks around one attempt.

    `contents_for` gives the request's contents for a model, a retry's nudge included; `concrete`
    the model that a name means; `nudge` is that nudge.
    """

    hooks: HookSystem
    contents_for: Callable[[str], Sequence[Content]]
    concrete: Callable[[str], str]
    nudge: str | None = None

    async def before(self, request: HookModelRequest) -> HookModelRequest:
        """What is asked after BeforeModel and BeforeToolSelection.

        Raises:
            AgentExecutionStopped, AgentExecutionBlocked: a hook will not have it.
        """
        said = await self.hooks.before_model(request)
        if said.stopped:
            raise AgentExecutionStopped(said.reason or "Agent execution stopped by hook")
        if said.blocked:
            reason = said.reason or "Model call blocked by hook"
            raise AgentExecutionBlocked(reason, said.synthetic_response)
        model, config, contents = request.model, dict(request.config), request.contents
        if said.model:
            model = self.concrete(said.model)
            contents = self.contents_for(model)
        if said.config is not None:
            config = dict(said.config)
        if said.contents is not None:
            contents = said.contents
            if self.nudge:
                contents = apply_retry_nudge(list(contents), self.nudge)
        chosen = await self.hooks.before_tool_selection(
            HookModelRequest(model=model, config=config, contents=contents)
        )
        if chosen.tool_config is not None:
            config["toolConfig"] = chosen.tool_config
        if chosen.tools is not None:
            config["tools"] = chosen.tools
        return HookModelRequest(model=model, config=config, contents=contents)


async def after_model(
    hooks: HookSystem | None, request: HookModelRequest | None, chunk: JsonObject
) -> JsonObject:
    """The chunk that is told; history keeps the model's own.

    Raises:
        AgentExecutionStopped, AgentExecutionBlocked: a hook will not have it.
    """
    if hooks is None or request is None:
        return chunk
    said = await hooks.after_model(request, chunk)
    if said.stopped:
        raise AgentExecutionStopped(said.reason or "Agent execution stopped by hook")
    if said.blocked:
        raise AgentExecutionBlocked(said.reason or "Agent execution blocked by hook", said.response)
    return said.response
