"""The product's tools as ADK sees them: declared, and run by the scheduler.

A turn's calls go to the scheduler as one batch (see `runtimes.adk.continuation`); ADK's own tool
execution never runs. A `BaseTool` of a request that is no `AdkTool` was added to it; see
`runtimes.adk.tool_round`.
"""

from __future__ import annotations

from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from services.children.declaring import ChildDeclarations
from services.tools.declaring import ToolDeclarations
from services.wire import JsonObject

__all__ = ["AdkTool", "DeclaredTools", "Toolbox"]


class AdkTool(BaseTool):
    """One declared tool. `wire` is the declaration as the API's JSON."""

    def __init__(self, wire: JsonObject) -> None:
        super().__init__(name=wire["name"], description=wire["description"])
        self.wire = wire

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self.wire.get("parametersJsonSchema"),
        )

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Do nothing: `SessionToolset` declares all tools at once."""

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Raise a `RuntimeError`: the flow hands a turn's calls to the scheduler."""
        raise RuntimeError(f"{self.name} is run by the scheduler, with the rest of its batch")


class DeclaredTools:
    """The tools of one request: `wire` is its `tools`, the rest is what ADK has of them."""

    def __init__(self, wire: list[JsonObject]) -> None:
        tools = [AdkTool(declaration) for declaration in wire[0]["functionDeclarations"]]
        self.wire = wire
        self.by_name: dict[str, BaseTool] = {tool.name: tool for tool in tools}
        self.functions = [tool._get_declaration() for tool in tools]


class Toolbox:
    """The session's tools, declared for a model."""

    def __init__(self, declarations: ToolDeclarations | ChildDeclarations) -> None:
        self._declarations = declarations
        self._declared: DeclaredTools | None = None

    def declared(self, model: str) -> DeclaredTools:
        """The tools of the next request to `model`; the same object while nothing changed."""
        wire = self._declarations.current(model)
        if self._declared is None or self._declared.wire is not wire:
            self._declared = DeclaredTools(wire)
        return self._declared

    def taken(self, model: str) -> list[JsonObject]:
        """The `tools` of a request that is sent now, which may be others than it was built with."""
        return self._declarations.taken(model)
