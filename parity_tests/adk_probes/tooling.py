"""Tools of others: added to a request, called by the model."""

from __future__ import annotations

from typing import Any, Final

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from parity_tests.adk_probes.probe import Noting, Probe, calls, text

__all__ = ["GROUP", "PROBES"]

GROUP: Final = "Third-party tools"


class Weighing(BaseTool):
    """A `BaseTool` with a declaration of its own."""

    def __init__(self) -> None:
        super().__init__(name="weigh", description="Weighs a thing.")

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema={"type": "object", "properties": {"thing": {"type": "string"}}},
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        if args["thing"] == "a ghost":
            raise ValueError("a ghost weighs nothing")
        return {"grams": len(args["thing"])}


def count(words: str) -> int:
    """Counts letters."""
    return len(words)


async def remember(words: str, tool_context: ToolContext) -> dict[str, Any]:
    """Remembers something."""
    before = tool_context.state.get("remembered", [])
    tool_context.state["remembered"] = [*before, words]
    return {"remembered": len(before) + 1, "call": tool_context.function_call_id}


def finish(tool_context: ToolContext) -> dict[str, Any]:
    """Ends the run."""
    tool_context.actions.skip_summarization = True
    return {"output": "finished"}


def nothing() -> None:
    """Returns nothing."""


def objects() -> dict[str, Any]:
    """Returns an object of a class of google-genai."""
    return {"config": types.GenerateContentConfig(max_output_tokens=7)}


class Scales(BaseToolset):
    """A toolset of one tool."""

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        return [Weighing()]


class Equipping(Noting):
    """Gives the agent a toolset, as `LlmAgent(tools=...)` does."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        if not any(isinstance(each, Scales) for each in agent.tools):
            agent.tools.append(Scales())

    async def close(self) -> None:
        self.note("plugin closed")


class OnlyAdding(Noting):
    """Adds tools to each request, and has no callback of tools."""

    def __init__(self, *tools: BaseTool) -> None:
        super().__init__("adding")
        self._tools = tools

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.append_tools(list(self._tools))


class Adding(OnlyAdding):
    """Adds tools to each request, and notes what the callbacks of tools get."""

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        self.note("before", tool.name, type(tool).__name__ if tool in self._tools else "")

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> None:
        self.note("after", tool.name, result)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> None:
        kind = type(error).__name__ if tool in self._tools else ""
        self.note("error", tool.name, kind, str(error))


class Mending(Adding):
    """Answers in place of each error of a tool."""

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> Any:
        self.note("error", tool.name)
        return {"output": "mended"}


def _probe(name: str, row: str, tools: Any, *wanted: Any, **more: Any) -> Probe:
    script = (calls(*wanted), text("done"))
    return Probe(
        name=f"tool-{name}",
        row=row,
        plugins=lambda: [Adding(*tools())],
        **{"script": script, **more},
    )


def _weighing() -> list[BaseTool]:
    return [Weighing()]


def _functions() -> list[BaseTool]:
    return [FunctionTool(count), FunctionTool(remember)]


def _plain() -> list[BaseTool]:
    return [FunctionTool(nothing), FunctionTool(objects)]


_OURS: Final[tuple[str, Any]] = ("read_file", {"file_path": "a.txt"})
_APPLE: Final[tuple[str, Any]] = ("weigh", {"thing": "an apple"})

PROBES: Final = (
    _probe("base", "a `BaseTool`", _weighing, _APPLE, shown=('{"thing":"an apple"}',)),
    _probe("base-fails", "a `BaseTool` that raises", _weighing, ("weigh", {"thing": "a ghost"})),
    _probe("function", "a `FunctionTool`", _functions, ("count", {"words": "four"})),
    _probe("function-arguments", "a `FunctionTool` without an argument", _functions, ("count", {})),
    _probe(
        "function-context",
        "a `FunctionTool` that writes state",
        _functions,
        ("remember", {"words": "one"}),
        script=(
            calls(("remember", {"words": "one"})),
            calls(("remember", {"words": "two"})),
            text("done"),
        ),
    ),
    _probe(
        "beside-ours",
        "a `BaseTool` beside the product's own",
        _weighing,
        _APPLE,
        ("read_file", {"file_path": "a.txt"}),
    ),
    _probe(
        "ends",
        "a `FunctionTool` that skips the summary",
        lambda: [FunctionTool(finish)],
        script=(calls(("finish", {})),),
    ),
    *(
        Probe(
            name=f"tool-unwatched-{name}",
            row=f"{row}, with no callback of tools",
            plugins=lambda: [OnlyAdding(*_weighing())],
            script=(calls(*wanted), text("done")),
            counted=False,
        )
        for name, row, wanted in (
            ("alone", "a `BaseTool`", (_APPLE,)),
            ("twice", "a `BaseTool`, called twice", (_APPLE, _APPLE)),
            ("beside", "a `BaseTool` beside the product's own", (_APPLE, _OURS)),
        )
    ),
    Probe(
        name="tool-set",
        row="a `BaseToolset` of the agent's; `close` of a plugin",
        plugins=lambda: [Equipping()],
        script=(calls(_APPLE), text("done"), text("again")),
        messages=("hello", "again"),
    ),
    _probe("nothing", "a `FunctionTool` that returns nothing", _plain, ("nothing", {})),
    _probe("objects", "a `FunctionTool` that returns an object", _plain, ("objects", {})),
    Probe(
        name="tool-unknown-mended",
        row="a tool that does not exist, with an answer of `on_tool_error`",
        plugins=lambda: [Mending(*_weighing())],
        script=(calls(("fly", {"to": "the moon"})), text("done")),
    ),
    _probe("unknown", "a tool that does not exist", _weighing, ("fly", {"to": "the moon"})),
)
