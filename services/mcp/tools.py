"""A server's tool as a tool of the session.

Source: core `tools/mcp-tool.ts`, `tools/mcp-client.ts` (`discoverTools`, `McpCallableTool`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from services.abort import AbortError, until_aborted
from services.mcp.contents import is_tool_error, parts_of, shown_result
from services.mcp.names import valid_mcp_name
from services.mcp.tool_schemas import judging_schema, nullable_schema, with_wait_parameter
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    InvalidToolParams,
    ToolErrorType,
    ToolExecution,
    ToolFailure,
    ToolKind,
    ToolResult,
)
from services.tools.schema import ParameterSchema
from services.wire import JsonObject, js_json, js_length

__all__ = [
    "Allowlist",
    "CallServer",
    "DiscoveredMCPTool",
    "McpToolInvocation",
    "ToolOrigin",
]

logger = logging.getLogger(__name__)

CallServer = Callable[[str, JsonObject, str], Awaitable[JsonObject]]
"""Calls a tool of the server by its own name, with arguments, for a call id."""

_LONGEST_EXPLANATION: Final = 500
_SHOWN_KEYS: Final = 5


class Allowlist:
    """Servers, and tools as `server.tool`, that the user allowed for the rest of the session."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def allows(self, server: str, tool: str) -> bool:
        """True when no further confirmation is needed."""
        return server in self._keys or f"{server}.{tool}" in self._keys

    def note(self, server: str, tool: str, outcome: ConfirmationOutcome) -> None:
        """Remember an answer, if it was one for the session."""
        if outcome is ConfirmationOutcome.PROCEED_ALWAYS_SERVER:
            self._keys.add(server)
        elif outcome in (
            ConfirmationOutcome.PROCEED_ALWAYS_TOOL,
            ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE,
        ):
            self._keys.add(f"{server}.{tool}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOrigin:
    """The fields that all tools of a server share."""

    server_name: str
    trusted: bool
    """Whether server and folder are trusted: then calls need no confirmation."""
    call: CallServer
    allowlist: Allowlist
    on_use: Callable[[], None] = field(default=lambda: None)
    """Called at each execution; afterwards the user sees the servers' diagnostics."""


class DiscoveredMCPTool:
    """One tool of a server. Settings can name the class."""

    kind = ToolKind.OTHER
    is_output_markdown = True
    can_update_output = False

    def __init__(self, wire: JsonObject, origin: ToolOrigin) -> None:
        """Wrap a server's tool.

        Args:
            wire: the tool as `tools/list` gives it, checked.
            origin: its server.
        """
        self._origin = origin
        self.server_name = origin.server_name
        self.server_tool_name: str = wire["name"]
        self.name = valid_mcp_name(f"{self.server_name}_{self.server_tool_name}")
        self.display_name = f"{self.server_tool_name} ({self.server_name} MCP Server)"
        self.description: str = wire.get("description") or ""
        self.parameters: JsonObject = nullable_schema(wire["inputSchema"])
        self.annotations: Mapping[str, Any] | None = wire.get("annotations")

    @property
    def policy_annotations(self) -> JsonObject:
        """The annotations for the policy: the server's hints, and its name."""
        return {**(self.annotations or {}), "_serverName": self.server_name}

    @property
    def excluded_by(self) -> frozenset[str]:
        """The names by which settings may exclude it: whole, without the server, the class's."""
        prefix = valid_mcp_name(f"{self.server_name}_")
        other = (
            self.name.removeprefix(prefix)
            if self.name.startswith(prefix)
            else f"{prefix}{self.name}"
        )
        return frozenset({self.name, type(self).__name__, other})

    def declaration(self, model: str | None = None) -> JsonObject:
        """`{name, description, parametersJsonSchema}`, the same for every model."""
        return {
            "name": self.name,
            "description": self.description,
            "parametersJsonSchema": with_wait_parameter(self.parameters),
        }

    def build(self, params: JsonObject) -> McpToolInvocation:
        """Validate against the server's schema and build one call.

        Raises:
            InvalidToolParams: the message is for the model.
        """
        fault = self._fault(params)
        if fault is not None:
            raise InvalidToolParams(fault)
        return McpToolInvocation(self, params, self._origin)

    def _fault(self, params: JsonObject) -> str | None:
        try:
            return self._schema.fault(params)
        except Exception as error:  # noqa: BLE001 - a server's schema may be anything
            logger.warning(
                "Failed to compile schema of %s: %s. Skipping parameter validation.",
                self.name,
                error,
            )
            return None

    @cached_property
    def _schema(self) -> ParameterSchema:
        return ParameterSchema(judging_schema(self.parameters))


class McpToolInvocation:
    """One call of a server's tool."""

    def __init__(self, tool: DiscoveredMCPTool, params: JsonObject, origin: ToolOrigin) -> None:
        self._tool = tool
        self._params = params
        self._origin = origin

    @property
    def params(self) -> JsonObject:
        """The arguments; they go to the server as they are, `wait_for_previous` among them."""
        return self._params

    @property
    def policy_name(self) -> str:
        """The name under which the second policy check knows the call."""
        return self._tool.name

    @property
    def policy_server(self) -> str:
        """The server as that check knows it: with the prefix of tools, the core's oddity."""
        return valid_mcp_name(self._tool.server_name)

    def description(self) -> str:
        """The arguments as JSON."""
        return js_json(self._params)

    def display_title(self) -> str:
        """The command that the server is to run, or the tool's name for the user."""
        command = self._params.get("command")
        if isinstance(command, str):
            return command
        return self._tool.display_name or self._tool.server_tool_name

    def explanation(self) -> str:
        """The arguments as JSON, or their names where that is long."""
        whole = js_json(self._params)
        if js_length(whole) <= _LONGEST_EXPLANATION:
            return whole
        keys = list(self._params)
        more = ", ..." if len(keys) > _SHOWN_KEYS else ""
        shown = f" with parameters: {', '.join(keys[:_SHOWN_KEYS])}{more}" if keys else ""
        return f"[Payload omitted due to length{shown}]"

    @property
    def respects_auto_edit(self) -> bool:
        """False: a server's call is not one of our edits."""
        return False

    def confirmation_details(self) -> ConfirmationDetails | None:
        """The call and its server; nothing where server or tool has been allowed."""
        server, tool = self._tool.server_name, self._tool.server_tool_name
        if self._origin.trusted or self._origin.allowlist.allows(server, tool):
            return None
        return ConfirmationDetails(
            type="mcp",
            title="Confirm MCP Tool Execution",
            fields={
                "serverName": server,
                "toolName": tool,
                "toolDisplayName": self._tool.display_name,
                "toolArgs": self._params,
                "toolDescription": self._tool.description,
                "toolParameterSchema": self._tool.parameters,
            },
        )

    def note_outcome(self, outcome: ConfirmationOutcome) -> None:
        """Note the user's answer; after an "always" there is no further question."""
        self._origin.allowlist.note(self._tool.server_name, self._tool.server_tool_name, outcome)

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """The server and the tool that an "always" answer is about."""
        return {"mcpName": self._tool.server_name, "toolName": self._tool.server_tool_name}

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Call the server. An abort stops the waiting, not the server.

        Raises:
            AbortError: the signal was aborted.
        """
        self._origin.on_use()
        name = self._tool.server_tool_name
        try:
            response = await until_aborted(
                _awaited(self._origin.call(name, self._params, execution.call_id)),
                execution.signal,
            )
        except AbortError:
            raise AbortError("Tool call aborted") from None
        if is_tool_error(response):
            call = js_json({"name": name, "args": self._params})
            shown = js_json([{"functionResponse": {"name": name, "response": response}}])
            message = (
                f"MCP tool '{name}' reported tool error for function call: {call} "
                f"with response: {shown}"
            )
            return ToolResult(
                llm_content=message,
                return_display=f"Error: MCP tool '{name}' reported an error.",
                error=ToolFailure(message=message, type=ToolErrorType.MCP_TOOL_ERROR),
            )
        return ToolResult(
            llm_content=list(parts_of(response, name)),
            return_display=shown_result(response, name),
        )


async def _awaited(answer: Awaitable[JsonObject]) -> JsonObject:
    return await answer
