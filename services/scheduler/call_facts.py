"""Facts about an ended tool call for the counts and the log of a session.

Source: core `telemetry/tool-call-decision.ts`, `telemetry/types.ts` (`ToolCallEvent`).
"""

from __future__ import annotations

from typing import Final

from services.scheduler.calls import CallStatus, CompletedToolCall
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject

__all__ = ["call_metadata", "decision_of"]

_DECISIONS: Final = {
    ConfirmationOutcome.PROCEED_ONCE: "accept",
    ConfirmationOutcome.PROCEED_ALWAYS: "auto_accept",
    ConfirmationOutcome.PROCEED_ALWAYS_SERVER: "auto_accept",
    ConfirmationOutcome.PROCEED_ALWAYS_TOOL: "auto_accept",
    ConfirmationOutcome.MODIFY_WITH_EDITOR: "modify",
}


def decision_of(outcome: ConfirmationOutcome) -> str:
    """`accept`, `auto_accept`, `modify` or `reject`."""
    return _DECISIONS.get(outcome, "reject")


def call_metadata(call: CompletedToolCall) -> JsonObject:
    """The number of changed lines and the tool's own data; empty for a failed call."""
    if call.status is not CallStatus.SUCCESS:
        return {}
    display = call.response.result_display
    facts: JsonObject = {}
    if isinstance(display, dict) and "fileDiff" in display:
        facts.update(display.get("diffStat") or {})
    facts.update(call.response.data or {})
    return facts
