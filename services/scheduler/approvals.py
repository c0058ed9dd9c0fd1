"""The effect of an "always" answer on later calls: the approval mode and the policy.

Source: core `scheduler/policy.ts` (`updatePolicy`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.message_bus import MessageBus
from services.policy.rules import MODES_BY_PERMISSIVENESS
from services.policy.updates import UpdatePolicy
from services.state import ApprovalMode, SessionState
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome, Tool, ToolInvocation

__all__ = ["EDIT_TOOLS", "remember_answer"]

EDIT_TOOLS: Final = frozenset({"write_file", "replace"})

_ALWAYS = ConfirmationOutcome.PROCEED_ALWAYS
_AND_SAVE = ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE
_SERVER = ConfirmationOutcome.PROCEED_ALWAYS_SERVER
_EVERY_ALWAYS: Final = frozenset(
    {_ALWAYS, _AND_SAVE, _SERVER, ConfirmationOutcome.PROCEED_ALWAYS_TOOL}
)


def remember_answer(
    *,
    tool: Tool,
    invocation: ToolInvocation,
    outcome: ConfirmationOutcome,
    details: ConfirmationDetails,
    state: SessionState,
    bus: MessageBus,
    workspace_policies: bool,
) -> None:
    """Apply an "always" answer; any other changes nothing.

    Args:
        tool: the tool of the confirmed call.
        invocation: the call.
        outcome: the answer.
        details: what the user saw.
        state: its approval mode may change.
        bus: receives the change of the policy.
        workspace_policies: whether a rule to be saved goes to the workspace instead of the user.
    """
    before = state.approval_mode
    if outcome is _ALWAYS and tool.name in EDIT_TOOLS:
        state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    if outcome not in _EVERY_ALWAYS:
        return
    modes = MODES_BY_PERMISSIVENESS[MODES_BY_PERMISSIVENESS.index(before) :]
    scope = None
    if outcome is _AND_SAVE:
        scope = "workspace" if workspace_policies else "user"
    if details.type == "mcp":
        server = details.fields["serverName"]
        bus.publish(
            UpdatePolicy(
                tool_name=f"mcp_{server}_*" if outcome is _SERVER else tool.name,
                mcp_name=server,
                modes=modes,
                persist_scope=scope,
            )
        )
    elif outcome in {_ALWAYS, _AND_SAVE}:
        options = _narrowing(invocation, outcome, details)
        bus.publish(
            UpdatePolicy(
                tool_name=tool.name,
                args_pattern=options.get("argsPattern"),
                command_prefix=options.get("commandPrefix"),
                allow_redirection=bool(options.get("allowRedirection")),
                modes=modes,
                persist_scope=scope,
            )
        )


def _narrowing(
    invocation: ToolInvocation,
    outcome: ConfirmationOutcome,
    details: ConfirmationDetails,
) -> Mapping[str, Any]:
    """The limits of the approval: those of the invocation, else the commands that the user saw."""
    options = dict(invocation.policy_update(outcome) or {})
    if details.type == "exec" and not options.get("commandPrefix"):
        options["commandPrefix"] = details.fields.get("rootCommands")
    return options
