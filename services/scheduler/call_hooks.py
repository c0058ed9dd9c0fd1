"""The hooks around one call: BeforeTool before policy, AfterTool once its tool came back.

Source: core `scheduler/hook-utils.ts`, `core/coreToolHookTriggers.ts`, `scheduler/confirmation.ts`
(`notifyHooks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from services.abort import AbortSignal
from services.hooks.system import HookSystem
from services.hooks.tool_hooks import (
    CallVerdict,
    result_after_hooks,
    verdict_before_call,
    with_modified_notice,
)
from services.scheduler.states import ToolCall
from services.tools.contract import ConfirmationDetails, Tool, ToolResult
from services.wire import JsonObject

__all__ = ["AfterCall", "CallHooks"]

_SHARED_WITH_HOOKS: Final = ("command", "args", "cwd")


@runtime_checkable
class _ToolOfServer(Protocol):
    server_name: str
    server_tool_name: str


@dataclass(frozen=True, slots=True)
class AfterCall:
    """What is left of a result, and the call `{name, args}` to make before anybody is told."""

    result: ToolResult
    tail: JsonObject | None = None


class CallHooks:
    """What the scheduler asks of a session's hooks; without hooks every answer is "go on"."""

    def __init__(self, hooks: HookSystem | None, servers: Mapping[str, Any]) -> None:
        """Take the seams.

        Args:
            hooks: None where hooks are switched off.
            servers: `mcpServers` of the settings, of which hooks are told what is no secret.
        """
        self._hooks = hooks
        self._servers = servers

    async def before(self, call: ToolCall, signal: AbortSignal) -> CallVerdict:
        """What BeforeTool makes of a call whose invocation is built."""
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
        """Tell hooks that a person is about to be asked."""
        if self._hooks is not None:
            await self._hooks.tool_permission(details, signal)

    async def after(self, call: ToolCall, result: ToolResult, signal: AbortSignal) -> AfterCall:
        """What AfterTool makes of what the tool brought back, with an error or an abort too."""
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
        """The server of an MCP tool, as hooks are told of it; None for any other tool."""
        if not isinstance(tool, _ToolOfServer):
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
