"""The hooks around one call: BeforeTool before the policy, AfterTool after the tool.

Source: core `scheduler/hook-utils.ts`, `core/coreToolHookTriggers.ts`, `scheduler/confirmation.ts`
(`notifyHooks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.abort import AbortSignal
from services.hooks.system import HookSystem
from services.hooks.tool_hooks import (
    CallVerdict,
    result_after_hooks,
    verdict_before_call,
    with_modified_notice,
)
from services.scheduler.states import ToolCall
from services.tools.contract import ConfirmationDetails, ServerTool, Tool, ToolResult
from services.wire import JsonObject

__all__ = ["AfterCall", "CallHooks"]

_SHARED_WITH_HOOKS: Final = ("command", "args", "cwd")


@dataclass(frozen=True, slots=True)
class AfterCall:
    """The result after the hooks, and the call `{name, args}` that replaces it, if any."""

    result: ToolResult
    tail: JsonObject | None = None


class CallHooks:
    """Runs the session's hooks for the scheduler; without hooks every verdict is "go on"."""

    def __init__(self, hooks: HookSystem | None, servers: Mapping[str, Any]) -> None:
        """Hooks get the parts of `servers` (the setting `mcpServers`) that are no secrets."""
        self._hooks = hooks
        self._servers = servers

    async def before(self, call: ToolCall, signal: AbortSignal) -> CallVerdict:
        """The verdict of BeforeTool on a call whose invocation is built."""
        if self._hooks is None or call.tool is None or call.invocation is None:
            return CallVerdict()
        output = await self._hooks.before_tool(
            call.name,
            call.invocation.params,
            mcp_context=self._server_context(call.tool),
            original_name=call.request.original_request_name,
            signal=signal,
        )
        return verdict_before_call(output, call.tool)

    async def asking(self, details: ConfirmationDetails, signal: AbortSignal) -> None:
        """Run the hooks for a confirmation that the user is about to see."""
        if self._hooks is not None:
            await self._hooks.tool_permission(details, signal)

    async def after(self, call: ToolCall, result: ToolResult, signal: AbortSignal) -> AfterCall:
        """Apply AfterTool to the tool's result, also after an error or an abort."""
        if self._hooks is None or call.tool is None or call.invocation is None:
            return AfterCall(result)
        output = await self._hooks.after_tool(
            call.name,
            call.invocation.params,
            result,
            mcp_context=self._server_context(call.tool),
            original_name=call.request.original_request_name,
            signal=signal,
        )
        result = result_after_hooks(result, output)
        if call.request.input_modified_by_hook:
            result = with_modified_notice(result)
        follows = output is not None and not output.stops and not output.blocks
        return AfterCall(result, output.tail_tool_call if output and follows else None)

    def _server_context(self, tool: Tool) -> JsonObject | None:
        """The server of an MCP tool as hooks receive it; `None` for any other tool."""
        if not isinstance(tool, ServerTool):
            return None
        context: JsonObject = {
            "server_name": tool.server_name,
            "tool_name": tool.server_tool_name,
        }
        config = self._servers.get(tool.server_name)
        if not isinstance(config, Mapping):
            return context
        context.update({key: config[key] for key in _SHARED_WITH_HOOKS if key in config})
        url = config.get("url") or config.get("httpUrl")
        if url is not None:
            context["url"] = url
        if "tcp" in config:
            context["tcp"] = config["tcp"]
        return context
