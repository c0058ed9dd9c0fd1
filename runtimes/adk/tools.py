"""Tools as ADK sees them: declared here, executed by the scheduler.

A turn's calls go to the scheduler as one batch (see `runtimes.adk.flow`), so an `AdkTool` only
declares; ADK's own tool execution never runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from services.wire import JsonObject

__all__ = ["AdkTool", "Declarations", "DeclaredTools", "Toolbox", "to_adk_tool"]


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


def to_adk_tool(declaration: JsonObject) -> AdkTool:
    """The ADK tool for a declaration `{name, description, parametersJsonSchema}`."""
    return AdkTool(declaration)


@dataclass(frozen=True, slots=True)
class DeclaredTools:
    """The tools of one request, in both worlds."""

    wire: list[JsonObject]
    """The request's `tools`."""
    by_name: dict[str, BaseTool]
    typed: types.Tool


class Declarations(Protocol):
    """What the requests of a conversation declare; the same object while nothing changed."""

    def current(self, model: str) -> list[JsonObject]:
        """What the next request to `model` declares: its `tools`."""
        ...

    def taken(self, model: str) -> list[JsonObject]:
        """The same, for a request that is made now."""
        ...


class Toolbox:
    """The session's tools, declared for a model; the same object while nothing changed."""

    def __init__(self, declarations: Declarations) -> None:
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
    tools = [to_adk_tool(declaration) for declaration in wire[0]["functionDeclarations"]]
    return DeclaredTools(
        wire=wire,
        by_name={tool.name: tool for tool in tools},
        typed=types.Tool(function_declarations=[tool._get_declaration() for tool in tools]),
    )
