"""How a surface runs the calls of a batch, and what the model reads about a call that did not run.

Source: core `scheduler/scheduler.ts` (`_startBatch`, `_processToolCall`) for `BatchStyle`,
`packages/cli` `acp/acpSession.ts` (`runTool`) for `DirectStyle`.
"""

from __future__ import annotations

from services.scheduler.calls import ToolCallRequest, ToolCallResponse
from services.scheduler.responses import function_response
from services.tools.contract import Tool
from services.wire import js_length

__all__ = ["BatchStyle", "DirectStyle"]


class BatchStyle:
    """The style of the core's scheduler: calls that read run at the same time."""

    one_by_one = False
    """Whether each call ends before the next one is checked, in the order of the model."""
    refusal_ends_batch = True
    """Whether the calls after one that the user refuses are cancelled without a question."""

    def not_found(self, name: str, suggestion: str) -> str:
        """What the model reads about a tool that does not exist.

        Args:
            name: the name that the model called.
            suggestion: a sentence with similar names, with a blank before it.
        """
        return f'Tool "{name}" not found.{suggestion}'

    def denied(self, tool: Tool, reason: str | None) -> str:
        """What the model reads about a call that the policy denies, perhaps with a `reason`."""
        why = f" {reason}" if reason else ""
        return f"Tool execution denied by policy.{why}"

    def refused(self, request: ToolCallRequest) -> str | ToolCallResponse:
        """The response to a call that the user refuses, or the reason in the usual response."""
        return "User denied execution."


class DirectStyle(BatchStyle):
    """The style of the published ACP mode, which runs each call itself."""

    one_by_one = True
    refusal_ends_batch = False

    def not_found(self, name: str, suggestion: str) -> str:
        """The name alone."""
        return f'Tool "{name}" not found in registry.'

    def denied(self, tool: Tool, reason: str | None) -> str:
        """The tool's name for the user; no reason."""
        return f'Tool execution for "{tool.display_name or tool.name}" denied by policy.'

    def refused(self, request: ToolCallRequest) -> ToolCallResponse:
        """A response of its own."""
        message = f'Tool "{request.shown_name}" was canceled by the user.'
        part = function_response(request.shown_name, request.call_id, {"error": message})
        return ToolCallResponse(
            call_id=request.call_id, response_parts=(part,), content_length=js_length(message)
        )
