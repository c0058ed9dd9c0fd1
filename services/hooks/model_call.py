"""One attempt to ask the model, as hooks take part in it.

Source: core `core/geminiChat.ts`, `makeApiCallAndProcessStream` and `processStreamResponse`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from services.history.transforms import apply_retry_nudge
from services.hooks.system import HookSystem
from services.hooks.translation import HookModelRequest
from services.wire import Content, JsonObject

__all__ = [
    "AgentExecutionBlocked",
    "AgentExecutionStopped",
    "HookVerdict",
    "ModelCallHooks",
]


class HookVerdict(Exception):
    """A hook has ended the model's turn. No failure: nothing is retried, nothing rolled back."""

    code: ClassVar[str]
    """How clients know the verdict."""

    def __init__(self, reason: str, response: JsonObject | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.response = response
        """What takes the answer's place, if anything does."""


class AgentExecutionStopped(HookVerdict):
    """The whole stream is over."""

    code = "AGENT_EXECUTION_STOPPED"


class AgentExecutionBlocked(HookVerdict):
    """This answer is not given."""

    code = "AGENT_EXECUTION_BLOCKED"


class ModelCallHooks:
    """BeforeModel, BeforeToolSelection and AfterModel around each attempt to ask the model."""

    def __init__(self, hooks: HookSystem) -> None:
        self._hooks = hooks

    async def before_attempt(
        self,
        request: HookModelRequest,
        *,
        contents_for: Callable[[str], Sequence[Content]],
        concrete: Callable[[str], str] = str,
        nudge: str | None = None,
    ) -> HookModelRequest:
        """What is asked after BeforeModel and BeforeToolSelection.

        Args:
            request: What is about to be asked.
            contents_for: The request's contents for a model, with `nudge` in them.
            concrete: The model that a name means.
            nudge: The text that a retry adds to the contents, if any.

        Raises:
            AgentExecutionStopped, AgentExecutionBlocked: a hook does not allow it.
        """
        said = await self._hooks.before_model(request)
        if said.stopped:
            raise AgentExecutionStopped(said.reason or "Agent execution stopped by hook")
        if said.blocked:
            reason = said.reason or "Model call blocked by hook"
            raise AgentExecutionBlocked(reason, said.synthetic_response)
        model, config, contents = request.model, dict(request.config), request.contents
        if said.model:
            model = concrete(said.model)
            contents = contents_for(model)
        if said.config is not None:
            config = dict(said.config)
        if said.contents is not None:
            contents = said.contents
            if nudge:
                contents = apply_retry_nudge(list(contents), nudge)
        chosen = await self._hooks.before_tool_selection(
            HookModelRequest(model=model, config=config, contents=contents)
        )
        if chosen.tool_config is not None:
            config["toolConfig"] = chosen.tool_config
        if chosen.tools is not None:
            config["tools"] = chosen.tools
        return HookModelRequest(model=model, config=config, contents=contents)

    async def after_chunk(self, request: HookModelRequest, chunk: JsonObject) -> JsonObject:
        """The chunk that clients get after AfterModel; history keeps the model's own.

        Raises:
            AgentExecutionStopped, AgentExecutionBlocked: a hook does not allow it.
        """
        said = await self._hooks.after_model(request, chunk)
        if said.stopped:
            raise AgentExecutionStopped(said.reason or "Agent execution stopped by hook")
        if said.blocked:
            reason = said.reason or "Agent execution blocked by hook"
            raise AgentExecutionBlocked(reason, said.response)
        return said.response
