"""The product's tools as ADK sees them, and ADK's tools as the scheduler sees them.

A turn's calls go to the scheduler as one batch (see `runtimes.adk.continuation`); ADK's own tool
execution never runs. So an `AdkTool` only declares a tool of the product. Any other `BaseTool` of
a request was added to it: by the agent, which has it in `LlmAgent.tools`, by a processor or by a
plugin. An `AddedTool` lets the scheduler run it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.adk.flows.llm_flows.functions import _extract_multimodal_parts
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic_core import to_jsonable_python

from services.abort import until_aborted
from services.children.declaring import ChildDeclarations
from services.tools.base import PlainInvocation
from services.tools.contract import (
    InvalidToolParams,
    LlmContent,
    ToolExecution,
    ToolInvocation,
    ToolKind,
    ToolResult,
)
from services.tools.declaring import ToolDeclarations
from services.wire import JsonObject, Part, js_json

__all__ = [
    "AddedTool",
    "AdkTool",
    "DeclaredTools",
    "Toolbox",
    "added_tools",
    "response_content",
    "response_text",
]

_LENIENT: Final[dict[str, Any]] = {
    "by_alias": True,
    "exclude_none": True,
    "bytes_mode": "base64",
    "inf_nan_mode": "null",
    "fallback": str,
}
"""Whatever a tool returns becomes JSON: an object of an unknown kind becomes its text."""


class AdkTool(BaseTool):
    """One declared tool. `wire` is the declaration as the API's JSON."""

    def __init__(self, wire: JsonObject) -> None:
        super().__init__(name=wire["name"], description=wire.get("description") or "")
        self.wire = wire

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self.wire.get("parametersJsonSchema"),
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Never called: the flow hands a turn's calls to the scheduler.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(f"{self.name} is run by the scheduler, with the rest of its batch")


class AddedTool:
    """One call of a `BaseTool` that is not the product's, as a tool of the scheduler.

    The policy decides whether it runs, and the scheduler asks the user; ADK's own confirmation is
    answered with that. The tool itself checks its arguments. One that is long-running answers its
    call with what `run_async` returns, as any other; no later response is waited for.
    """

    kind: ToolKind = ToolKind.OTHER
    is_output_markdown = False
    can_update_output = False

    def __init__(self, tool: BaseTool, context: ToolContext) -> None:
        self.name = self.display_name = tool.name
        self.description = tool.description
        self.adk = tool
        self.context = context
        self.result: Any = None
        """What `run_async` returned."""
        self.error: Exception | None = None
        """What it raised."""

    def declaration(self, model: str | None = None) -> JsonObject:
        """What the request declares of it."""
        declared = self.adk._get_declaration()
        return {"name": self.name} if declared is None else _as_wire(declared)

    def build(self, params: JsonObject) -> ToolInvocation:
        """Build the call.

        Raises:
            InvalidToolParams: the arguments are no object.
        """
        if not isinstance(params, dict):
            raise InvalidToolParams("params must be object")
        return _AddedCall(self, params)


class _AddedCall(PlainInvocation):
    def __init__(self, tool: AddedTool, params: JsonObject) -> None:
        super().__init__(params)
        self._tool, self._args = tool, params

    @property
    def shown_name(self) -> str:
        """The tool's name."""
        return self._tool.display_name

    def description(self) -> str:
        """The arguments as JSON."""
        return js_json(self._args)

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run the tool; what it raises is the call's error."""
        tool = self._tool
        tool.context.tool_confirmation = ToolConfirmation(confirmed=True)
        try:
            tool.result = await until_aborted(
                tool.adk.run_async(args=self._args, tool_context=tool.context), execution.signal
            )
        except Exception as error:
            tool.error = error
            raise
        content = response_content(tool.result)
        return ToolResult(llm_content=content, return_display=response_text(content))


def added_tools(tools: Mapping[str, BaseTool]) -> list[str]:
    """The names of those of a request's tools that are not the product's own."""
    return [name for name, tool in tools.items() if not isinstance(tool, AdkTool)]


def response_content(value: object) -> LlmContent:
    """What the model gets of a value that a tool or a callback returned, as ADK normalises it.

    A dict is the response; anything else is its `result`. Media goes beside it.
    """
    rest, media = _extract_multimodal_parts(value)
    response: JsonObject = to_jsonable_python(
        rest if isinstance(rest, dict) else {"result": rest}, **_LENIENT
    )
    if not media:
        return {"functionResponse": {"response": response}}
    return [*([js_json(response)] if response else []), *map(_media, media)]


def response_text(content: LlmContent) -> str:
    """What users are shown of `response_content`: its output where there is nothing else."""
    if not isinstance(content, dict):
        return next((part for part in content if isinstance(part, str)), "")
    response = content["functionResponse"]["response"]
    output = response.get("output")
    return output if isinstance(output, str) and len(response) == 1 else js_json(response)


def _media(part: types.FunctionResponsePart) -> Part:
    blob, file = part.inline_data, part.file_data
    if blob is not None:
        data = base64.b64encode(blob.data or b"").decode()
        return {"inlineData": {"mimeType": blob.mime_type, "data": data}}
    return {"fileData": {} if file is None else _as_wire(file)}


def _as_wire(value: object) -> JsonObject:
    wire: JsonObject = to_jsonable_python(value, **_LENIENT)
    return wire


@dataclass(frozen=True, slots=True)
class DeclaredTools:
    """The tools of one request, in both worlds."""

    wire: list[JsonObject]
    """The request's `tools`."""
    by_name: dict[str, BaseTool]
    typed: types.Tool


class Toolbox:
    """The session's tools, declared for a model; the same object while nothing changed."""

    def __init__(self, declarations: ToolDeclarations | ChildDeclarations) -> None:
        self._declarations = declarations
        self._declared: DeclaredTools | None = None

    def declared(self, model: str) -> DeclaredTools:
        """The tools of the next request to `model`."""
        return self._both(self._declarations.current(model))

    def taken(self, model: str) -> DeclaredTools:
        """The same, for a request that is made now."""
        return self._both(self._declarations.taken(model))

    def _both(self, wire: list[JsonObject]) -> DeclaredTools:
        if self._declared is None or self._declared.wire is not wire:
            self._declared = _declare(wire)
        return self._declared


def _declare(wire: list[JsonObject]) -> DeclaredTools:
    tools = [AdkTool(declaration) for declaration in wire[0]["functionDeclarations"]]
    return DeclaredTools(
        wire=wire,
        by_name={tool.name: tool for tool in tools},
        typed=types.Tool(function_declarations=[tool._get_declaration() for tool in tools]),
    )
