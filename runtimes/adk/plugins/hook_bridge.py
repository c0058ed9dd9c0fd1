"""`HookBridgePlugin`: the user's hooks around model calls, as an ADK plugin.

Hooks are what users configure (`HookSystem`); the plugin is how they take part in ADK's model
calls. Source: core `core/geminiChat.ts`, `hooks/hookSystem.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from runtimes.adk.plugins.driven import DrivenPlugin
from runtimes.adk.responses import chunk_of, response_of
from services.hooks.events import HookEvent
from services.hooks.model_call import HookVerdict, ModelCallHooks
from services.hooks.system import HookSystem
from services.hooks.translation import HookModelRequest
from services.model.sdk_contents import WireContent, wire_of
from services.model.sdk_json import dumped, typed
from services.wire import JsonObject

__all__ = ["HookBridgePlugin", "hook_bridge"]

_EVENTS: Final = HookEvent.BEFORE_MODEL, HookEvent.BEFORE_TOOL_SELECTION, HookEvent.AFTER_MODEL
_APART: Final = {"system_instruction", "tools", "http_options", "response_schema"}


@dataclass(slots=True)
class _ModelCall:
    """A model call of a stock app."""

    asked: HookModelRequest
    streamed: bool = False
    verdict: HookVerdict | None = None


class HookBridgePlugin(ModelCallHooks, DrivenPlugin):
    """`ModelCallHooks` as a plugin.

    ADK's callbacks fire once per model call, while hooks take part in each attempt that the call
    takes. So the runtime's model layer calls `before_attempt` and `after_chunk` itself.
    """

    def __init__(self, hooks: HookSystem, *, driven: bool = False) -> None:
        """`driven`: the model layer calls the methods."""
        ModelCallHooks.__init__(self, hooks)
        DrivenPlugin.__init__(self, "hook_bridge", driven=driven)
        self._calls: dict[str, _ModelCall] = {}

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Let hooks change the request, or answer with the error that their verdict is."""
        contents = [wire_of(content) for content in llm_request.contents]
        config = dumped(llm_request.config, exclude=_APART)
        request = HookModelRequest(model=llm_request.model or "", config=config, contents=contents)
        try:
            asked = await self.before_attempt(request)
        except HookVerdict as verdict:
            return _refusal(verdict)
        self._calls[callback_context.invocation_id] = _ModelCall(asked)
        llm_request.model = asked.model
        if asked.contents is not contents:
            llm_request.contents = [WireContent.of(content) for content in asked.contents]
        _write(llm_request.config, config, asked.config)
        return None

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Let hooks change a delta; what was streamed is not shown to them again as a whole.

        After a verdict, nothing of the answer is left but the error at its end.
        """
        call = self._calls.get(callback_context.invocation_id)
        if call is None or llm_response.content is None:
            return None
        chunk = chunk_of(llm_response, wire_of(llm_response.content))
        if call.verdict is None and (llm_response.partial or not call.streamed):
            call.streamed = bool(llm_response.partial)
            try:
                given = await self.after_chunk(call.asked, chunk)
            except HookVerdict as verdict:
                call.verdict = verdict
            else:
                return None if given is chunk else response_of(given)
        if call.verdict is None:
            return None
        # ADK makes no event of an empty response.
        return LlmResponse() if llm_response.partial else _refusal(call.verdict)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Forget the invocation's model call."""
        self._calls.pop(invocation_context.invocation_id, None)


def hook_bridge(hooks: HookSystem | None) -> tuple[HookBridgePlugin, ...]:
    """The plugin for the runtime, where hooks for model calls are configured."""
    if hooks is None or not any(map(hooks.has_hooks, _EVENTS)):
        return ()
    return (HookBridgePlugin(hooks, driven=True),)


def _refusal(verdict: HookVerdict) -> LlmResponse:
    response = LlmResponse() if verdict.response is None else response_of(verdict.response)
    response.error_code, response.error_message = verdict.code, verdict.reason
    return response


def _write(config: types.GenerateContentConfig, before: JsonObject, after: Any) -> None:
    """Set the fields of `config` that differ between the two; those that are gone to `None`."""
    changed = {
        key: after.get(key) for key in {**before, **after} if before.get(key) != after.get(key)
    }
    made = typed(types.GenerateContentConfig, changed)
    for name, field in types.GenerateContentConfig.model_fields.items():
        if name not in _APART and (field.alias or name) in changed:
            setattr(config, name, getattr(made, name))
