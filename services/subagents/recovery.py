"""The recovery turn of an agent that stopped without a result, and its messages.

Source: core `agents/local-executor.ts` (`executeFinalWarningTurn`, the recovery block of
`runInternal`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.subagents.activity import ActivityErrorType
from services.subagents.definition import COMPLETE_TASK, RunLimits, TerminateMode
from services.wire import JsonObject, Part, js_number

__all__ = [
    "GOAL_WITHOUT_RESULT",
    "GRACE_RESULT",
    "PROTOCOL_VIOLATION",
    "RECOVERED",
    "TASK_COMPLETED",
    "TERMINATED",
    "RecoveryFailed",
    "error_data",
    "final_warning",
    "recovery_announced",
    "recovery_failed",
    "summary_of",
]

PROTOCOL_VIOLATION: Final = (
    f"Agent stopped calling tools but did not call '{COMPLETE_TASK}' to finalize the session."
)
RECOVERED: Final = "Graceful recovery succeeded."
TASK_COMPLETED: Final = "Task completed successfully."
"""The result of a turn that completed the task with nothing submitted."""
GRACE_RESULT: Final = "Task completed during grace period."
GOAL_WITHOUT_RESULT: Final = "Task completed."
TERMINATED: Final = "Agent execution was terminated before completion."

_WHY: Final[Mapping[TerminateMode, str]] = {
    TerminateMode.TIMEOUT: "You have exceeded the time limit.",
    TerminateMode.MAX_TURNS: "You have exceeded the maximum number of turns.",
    TerminateMode.ERROR_NO_COMPLETE_TASK_CALL: "You have stopped calling tools without finishing.",
}
_SUMMARY_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class RecoveryFailed:
    """The result of a run that was not recovered, and the `context` of its ERROR."""

    result: str
    context: str


def recovery_announced(reason: TerminateMode) -> str:
    """Return the thought before the recovery turn."""
    return (
        f"Execution limit reached ({reason}). Attempting one final recovery turn with a grace "
        "period."
    )


def final_warning(reason: TerminateMode) -> list[Part]:
    """Return the recovery turn's message, which replaces the next message."""
    text = (
        f"{_WHY[reason]} You have one final chance to complete the task with a short grace "
        f"period. You MUST call `{COMPLETE_TASK}` immediately with your best answer and explain "
        "that your investigation was interrupted. Do not call any other tools."
    )
    return [{"text": text}]


def recovery_failed(reason: TerminateMode, limits: RunLimits) -> RecoveryFailed:
    """Return the result of a run that ended with `reason` and was not recovered."""
    if reason is TerminateMode.TIMEOUT:
        return RecoveryFailed(
            f"Agent timed out after {js_number(limits.minutes)} minutes.", "timeout"
        )
    if reason is TerminateMode.MAX_TURNS:
        return RecoveryFailed(f"Agent reached max turns limit ({limits.turns}).", "max_turns")
    return RecoveryFailed(
        f"Agent stopped calling tools but did not call '{COMPLETE_TASK}'.", "protocol_violation"
    )


def error_data(error: str, context: str | None = None) -> JsonObject:
    """Return the data of an ERROR activity without a tool call."""
    context_field = {} if context is None else {"context": context}
    return {"error": error, **context_field, "errorType": ActivityErrorType.GENERIC.value}


def summary_of(result: str) -> str:
    """Return the recording's summary: at most 200 code points of the result."""
    if len(result) <= _SUMMARY_CHARS:
        return result
    return f"{result[: _SUMMARY_CHARS - 3]}..."
