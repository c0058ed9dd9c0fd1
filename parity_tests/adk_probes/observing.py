"""Every callback of a plugin, observing."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.adk_probes.probe import Noting, Probe, calls, chunk, text
from parity_tests.adk_probes.watching import json_of, kinds_of
from services.model.errors import ApiError

__all__ = ["GROUP", "PROBES"]

GROUP: Final = "Callbacks that observe"

_CALL: Final = calls(("read_file", {"file_path": "a.txt"}))
_USAGE: Final = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
_TURNS: Final = (_CALL, [chunk({"text": "it is alpha"}, usageMetadata=_USAGE)])
_FAILS: Final = (calls(("read_file", {"file_path": "none.txt"})), text("there is none"))
_REFUSED: Final = ApiError(400, "no such request")


def said(contents: Any) -> list[Any]:
    """Contents as `[role, [texts and kinds]]`."""
    return [
        [
            each.role,
            [part.text or kind for part, kind in zip(each.parts, _kinds(each), strict=True)],
        ]
        for each in contents
    ]


def _kinds(content: Any) -> list[str]:
    return [
        " ".join(kinds_of(type(content)(role=content.role, parts=[part]))) for part in content.parts
    ]


class UserMessage(Noting):
    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:
        self.note(invocation_context.session.app_name, *said([user_message]))


class BeforeRun(Noting):
    async def before_run_callback(self, *, invocation_context: Any) -> None:
        self.note(invocation_context.agent.name, said([invocation_context.user_content]))


class OnEvent(Noting):
    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        if not event.partial:
            self.note(event.author, event.content.role, kinds_of(event.content))


class AfterRun(Noting):
    async def after_run_callback(self, *, invocation_context: Any) -> None:
        events = invocation_context.session.events
        self.note([[event.author, kinds_of(event.content)] for event in events if event.content])


class BeforeAgent(Noting):
    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        self.note(agent.name, callback_context.agent_name, said([callback_context.user_content]))


class AfterAgent(Noting):
    async def after_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        self.note(agent.name, callback_context.agent_name)


class BeforeModel(Noting):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        config = json_of(llm_request.config)
        config.pop("labels", None)
        instruction = config.pop("systemInstruction")
        self.note(llm_request.model, said(llm_request.contents), sorted(llm_request.tools_dict))
        self.note(sorted(config), instruction.startswith("You are"))


class AfterModelWhole(Noting):
    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        if not llm_response.partial:
            usage = llm_response.usage_metadata
            self.note(kinds_of(llm_response.content), llm_response.finish_reason, json_of(usage))


class AfterModelDeltas(Noting):
    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        if llm_response.partial:
            self.note(said([llm_response.content]), llm_response.finish_reason)


class ModelError(Noting):
    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: Any, error: Exception
    ) -> None:
        self.note(llm_request.model, type(error).__name__, str(error))


class BeforeTool(Noting):
    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        self.note("before", tool.name, tool_args, tool_context.function_call_id)


class AfterTool(Noting):
    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> None:
        self.note("after", tool.name, tool_args, tool_context.function_call_id, result)


class ToolOrder(Noting):
    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        self.note("before", tool_args)

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> None:
        self.note("after", tool_args, result)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> None:
        self.note("error", tool_args, str(error))


class ToolError(Noting):
    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> None:
        self.note(tool.name, tool_args, tool_context.function_call_id, str(error))


class AgentError(Noting):
    async def on_agent_error_callback(
        self, *, agent: Any, callback_context: Any, error: Exception
    ) -> None:
        self.note(agent.name, type(error).__name__, str(error))


class RunError(Noting):
    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        self.note(type(error).__name__, str(error))


class Assigned(Noting):
    """Its callbacks are assigned to the object, and not defined by its class."""

    def __init__(self) -> None:
        super().__init__()

        async def before_model(*, callback_context: Any, llm_request: Any) -> None:
            self.note("model", *said(llm_request.contents))

        async def before_tool(*, tool: Any, tool_args: Any, tool_context: Any) -> None:
            self.note("tool", tool.name)

        for name, callback in (("model", before_model), ("tool", before_tool)):
            setattr(self, f"before_{name}_callback", callback)


def _probe(name: str, plugin: type[Noting], script: Any = _TURNS, **more: Any) -> Probe:
    row = f"`{name.replace('-', '_')}_callback`" if "row" not in more else more.pop("row")
    return Probe(name=f"observe-{name}", row=row, plugins=lambda: [plugin()], script=script, **more)


PROBES: Final = (
    _probe("on-user-message", UserMessage),
    _probe("before-run", BeforeRun),
    _probe("on-event", OnEvent),
    _probe("after-run", AfterRun, messages=("hello", "again"), script=(*_TURNS, text("hm"))),
    _probe("before-agent", BeforeAgent),
    _probe("after-agent", AfterAgent),
    _probe("before-model", BeforeModel),
    _probe("after-model", AfterModelWhole, row="`after_model_callback`, whole responses"),
    _probe("after-model-deltas", AfterModelDeltas, row="`after_model_callback`, partial responses"),
    _probe("on-model-error", ModelError, (_REFUSED,)),
    _probe("before-tool", BeforeTool),
    _probe("after-tool", AfterTool),
    _probe("on-tool-error", ToolError, _FAILS),
    _probe("on-agent-error", AgentError, (_REFUSED,)),
    _probe("on-run-error", RunError, (_REFUSED,)),
    _probe("assigned", Assigned, row="callbacks that are assigned to the plugin", counted=False),
    _probe(
        "several-calls",
        ToolOrder,
        (
            calls(("read_file", {"file_path": "a.txt"}), ("read_file", {"file_path": "none.txt"})),
            text("one of them"),
        ),
        row="the tool callbacks of several calls",
    ),
)
