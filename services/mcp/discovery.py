"""A connected server's lists, and the output schemas of its tools.

Only the first page of tools and prompts is read, as in the core; resources follow the cursors.

Source: core `tools/mcp-client.ts` (`discoverTools`, `discoverPrompts`, `listResources`,
`invokeMcpPrompt`); the SDK's `client/index` (output schemas).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from services.mcp.connection import Connection
from services.mcp.context import McpContext
from services.mcp.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    McpConnectionError,
    McpError,
)
from services.mcp.registries import McpPrompt, McpResource
from services.mcp.results import GET_PROMPT, LIST_PROMPTS, LIST_RESOURCES, LIST_TOOLS, ShapeError
from services.tools.schema import ParameterSchema
from services.wire import JsonObject, js_json
from services.zod import Shape

__all__ = ["Discovery"]

logger = logging.getLogger(__name__)

_SHORT_S: Final = 60.0
_MOST_PAGES: Final = 1000
"""A limit for a server whose cursors form a circle; the core has none."""


class Discovery:
    """The lists of one connection."""

    def __init__(self, server: str, connection: Connection, context: McpContext) -> None:
        self._server = server
        self._connection = connection
        self._context = context
        self._outputs: dict[str, ParameterSchema] = {}

    async def tools(self, timeout_s: float) -> list[JsonObject]:
        """The tools as the server describes them; none without that capability.

        Raises:
            McpConnectionError, McpError, ShapeError: the request failed.
        """
        listed = await self._list("tools", LIST_TOOLS, {}, timeout_s)
        found: list[JsonObject] = listed.get("tools", [])
        self._outputs = {}
        for tool in found:
            if tool.get("outputSchema") is not None:
                self._take_output(tool["name"], tool["outputSchema"])
        return found

    def _take_output(self, tool: str, schema: JsonObject) -> None:
        try:
            self._outputs[tool] = ParameterSchema(schema)
        except Exception as error:  # noqa: BLE001 - a server's schema may be anything
            logger.warning("The output schema of tool %s is not usable: %s", tool, error)

    async def prompts(self, timeout_s: float) -> list[McpPrompt]:
        """The prompts; none without that capability.

        Raises:
            McpConnectionError, McpError, ShapeError: the request failed.
        """
        listed = await self._list("prompts", LIST_PROMPTS, {}, timeout_s)
        return [self._prompt(wire) for wire in listed.get("prompts", [])]

    async def resources(self, timeout_s: float) -> list[McpResource]:
        """The resources of all pages; none without that capability.

        Raises:
            McpConnectionError, McpError, ShapeError: a request failed.
        """
        found: list[McpResource] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            params = {"cursor": cursor} if cursor else {}
            listed = await self._list("resources", LIST_RESOURCES, params, timeout_s)
            if not listed:
                return []
            found.extend(self._resource(wire) for wire in listed["resources"])
            cursor = listed.get("nextCursor")
            if not cursor:
                break
        return found

    def check_output(self, tool: str, result: JsonObject) -> None:
        """Check a tool's result against its output schema.

        Raises:
            McpError: the structured content is missing, or does not match.
        """
        schema = self._outputs.get(tool)
        if schema is None:
            return
        structured = result.get("structuredContent")
        if structured is None:
            if result.get("isError"):
                return
            raise McpError(
                INVALID_REQUEST,
                f"Tool {tool} has an output schema but did not return structured content",
            )
        try:
            fault = schema.fault(structured)
        except Exception as error:  # noqa: BLE001 - a server's schema may be anything
            logger.warning("The output schema of tool %s is not usable: %s", tool, error)
            return
        if fault is not None:
            listed = ", ".join(
                f"data{part.removeprefix('params')}" if part.startswith("params") else part
                for part in fault.split(", ")
            )
            raise McpError(
                INVALID_PARAMS,
                f"Structured content does not match the tool's output schema: {listed}",
            )

    async def _list(
        self, what: str, shape: Shape, params: JsonObject, timeout_s: float
    ) -> JsonObject:
        if self._connection.capabilities.get(what) is None:
            return {}
        try:
            listed: JsonObject = await self._connection.request(
                f"{what}/list", params, shape, timeout_s=timeout_s
            )
        except (McpError, McpConnectionError, ShapeError) as error:
            if isinstance(error, McpError) and error.code == METHOD_NOT_FOUND:
                return {}
            self._context.diagnostics.emit(
                "error", f"Error discovering {what} from {self._server}: {error}"
            )
            raise
        return listed

    def _prompt(self, wire: JsonObject) -> McpPrompt:
        async def invoke(arguments: Mapping[str, Any]) -> JsonObject:
            return await self._invoke(wire["name"], arguments)

        return McpPrompt(name=wire["name"], server_name=self._server, wire=wire, invoke=invoke)

    async def _invoke(self, name: str, arguments: Mapping[str, Any]) -> JsonObject:
        self._context.diagnostics.user_interacted()
        texts = {key: _text(value) for key, value in arguments.items() if value is not None}
        try:
            result: JsonObject = await self._connection.request(
                "prompts/get", {"name": name, "arguments": texts}, GET_PROMPT, timeout_s=_SHORT_S
            )
        except (McpError, McpConnectionError, ShapeError) as error:
            if "Method not found" not in str(error):
                # `[object Object]` is what the core makes of the arguments.
                self._context.diagnostics.emit(
                    "error",
                    f"Error invoking prompt '{name}' from {self._server} [object Object]: {error}",
                )
            raise
        return result

    def _resource(self, wire: JsonObject) -> McpResource:
        return McpResource(
            server_name=self._server,
            uri=wire["uri"],
            name=wire["name"],
            description=wire.get("description"),
            mime_type=wire.get("mimeType"),
        )


def _text(value: Any) -> str:
    """`String(value)`."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join("" if item is None else _text(item) for item in value)
    return "[object Object]" if isinstance(value, dict) else js_json(value)
