"""The effects of tool hooks on a call and on its result.

Source: core `scheduler/hook-utils.ts`, `scheduler/tool-executor.ts`,
`core/coreToolHookTriggers.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from services.hooks.results import HookOutput
from services.tools.contract import (
    InvalidToolParams,
    LlmContent,
    Tool,
    ToolErrorType,
    ToolFailure,
    ToolInvocation,
    ToolResult,
)
from services.wire import JsonObject

__all__ = ["CallVerdict", "result_after_hooks", "verdict_before_call", "with_modified_notice"]

_MODIFIED: Final = "\n\n[System] Tool input parameters were modified by a hook before execution."


@dataclass(frozen=True, slots=True, kw_only=True)
class CallVerdict:
    """The effect of BeforeTool on a call. With `error`, the other fields have no meaning."""

    error: ToolFailure | None = None
    """The call ends with this error; the model gets its message."""
    asks: bool = False
    """The policy's decision, whatever it is, becomes "ask"; details are forced."""
    system_message: str | None = None
    """Shown in the confirmation, where `asks`."""
    args: JsonObject | None = None
    """The arguments that replace the call's; `invocation` was built from them."""
    invocation: ToolInvocation | None = None


def verdict_before_call(output: HookOutput | None, tool: Tool) -> CallVerdict:
    """Read a BeforeTool output. `allow` does not replace the policy's decision."""
    if output is None:
        return CallVerdict()
    if output.stops:
        return _refused(
            ToolErrorType.STOP_EXECUTION, f"Agent execution stopped by hook: {output.reason}"
        )
    if output.blocks:
        return _refused(ToolErrorType.POLICY_VIOLATION, f"Tool execution blocked: {output.reason}")
    asks = output.asks
    system_message = output.system_message if asks else None
    args = output.tool_input
    if args is None:
        return CallVerdict(asks=asks, system_message=system_message)
    try:
        invocation = tool.build(args)
    except InvalidToolParams as problem:
        return _refused(
            ToolErrorType.INVALID_TOOL_PARAMS,
            f"Tool parameter modification by hook failed validation: {problem}",
        )
    return CallVerdict(asks=asks, system_message=system_message, args=args, invocation=invocation)


def result_after_hooks(result: ToolResult, output: HookOutput | None) -> ToolResult:
    """`result` as AfterTool changes it. The caller runs `tail_tool_call`, if there is one.

    A tail call counts only where the hook neither stops nor blocks.
    """
    if output is None:
        return result
    if output.stops:
        return _replaced(
            ToolErrorType.STOP_EXECUTION, "Agent execution stopped by hook: ", output.reason
        )
    if output.blocks:
        return _replaced(ToolErrorType.EXECUTION_FAILED, "Tool result blocked: ", output.reason)
    context = output.additional_context
    if not context:
        return result
    wrapped = f"\n\n<hook_context>{context}</hook_context>"
    return replace(result, llm_content=_appended(result.llm_content, wrapped))


def with_modified_notice(result: ToolResult) -> ToolResult:
    """`result` of a call whose arguments a hook replaced."""
    return replace(result, llm_content=_appended(result.llm_content, _MODIFIED))


def _appended(content: LlmContent, text: str) -> LlmContent:
    if isinstance(content, str):
        return content + text
    if isinstance(content, list):
        return [*content, {"text": text}]
    return [content, {"text": text}]


def _refused(type: ToolErrorType, message: str) -> CallVerdict:
    return CallVerdict(error=ToolFailure(message=message, type=type))


def _replaced(type: ToolErrorType, heading: str, reason: str) -> ToolResult:
    text = f"{heading}{reason}"
    return ToolResult(
        llm_content=text, return_display=text, error=ToolFailure(message=reason, type=type)
    )
