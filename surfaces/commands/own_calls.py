"""`call_tool`: a tool call that a command makes for the user, as a skill's command does.

The policy decides about it as about the model's calls.

Source: `packages/cli` `ui/hooks/useGeminiStream.ts` (`isClientInitiated`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from services.abort import AbortController
from services.bundle import Services
from services.policy.rules import Decision
from services.scheduler.calls import CallStatus
from services.tools.contract import (
    ConfirmationDetails,
    InvalidToolParams,
    Tool,
    ToolExecution,
    ToolInvocation,
    ToolResult,
    as_server_tool,
)
from services.wire import Json, js_json
from surfaces.commands.contract import CommandError

__all__ = ["OwnCall", "ShowsOwnCalls", "call_tool"]

_DECLINED: Final = "Operation cancelled."


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCall:
    """The call."""

    call_id: str
    tool: Tool
    invocation: ToolInvocation


class ShowsOwnCalls(Protocol):
    """The surface's side of a call."""

    async def allows(self, call: OwnCall, details: ConfirmationDetails) -> bool:
        """Whether the user allows the call."""

    def changed(self, call: OwnCall, status: CallStatus, result: ToolResult | None) -> None:
        """Show that the call executes, or has ended, then with its result if it has one."""


async def call_tool(
    name: str, args: Mapping[str, Json], services: Services, surface: ShowsOwnCalls
) -> str:
    """Call the tool `name`; return what the model gets about it with the next prompt.

    Raises:
        CommandError: there is no such tool, it refuses the arguments, or it fails; or the policy
            or the user refuses the call.
    """
    tool = services.tools.get(name)
    if tool is None:
        raise CommandError(f"The tool {name} is not available in this session.")
    try:
        invocation = tool.build(dict(args))
    except InvalidToolParams as error:
        raise CommandError(f"The tool {name} refuses the arguments: {error}") from error
    call = OwnCall(call_id=services.ids.uuid("call"), tool=tool, invocation=invocation)
    await _check(call, services, surface)
    result = await _execute(call, surface)
    content = result.llm_content
    text = content if isinstance(content, str) else js_json(content)
    return f"The user called the tool {name}. Its result:\n\n{text}\n\n"


async def _check(call: OwnCall, services: Services, surface: ShowsOwnCalls) -> None:
    server = as_server_tool(call.tool)
    check = await services.policy.decide(
        call.tool.name,
        call.invocation.params,
        server_name=server.server_name if server else None,
        annotations=server.policy_annotations if server else None,
    )
    if check.decision is Decision.DENY:
        raise CommandError(f"The policy denies the tool {call.tool.name}.")
    details = call.invocation.confirmation_details()
    if check.decision is Decision.ALLOW or details is None:
        return
    if not await surface.allows(call, details):
        raise CommandError(_DECLINED)


async def _execute(call: OwnCall, surface: ShowsOwnCalls) -> ToolResult:
    surface.changed(call, CallStatus.EXECUTING, None)
    signal = AbortController().signal
    try:
        result = await call.invocation.execute(ToolExecution(call_id=call.call_id, signal=signal))
    except BaseException:
        surface.changed(call, CallStatus.CANCELLED, None)
        raise
    surface.changed(call, CallStatus.ERROR if result.error else CallStatus.SUCCESS, result)
    if result.error is not None:
        raise CommandError(result.error.message)
    return result
