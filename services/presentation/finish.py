"""The reason of a stream's end, from the finish reason and the results of calls.

Source: `event-translator.ts`, `legacy-agent-session.ts`; reference 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from services.scheduler.calls import CompletedToolCall
from services.tools.contract import ToolErrorType

__all__ = ["end_reason", "end_reason_of_calls"]

_REASONS = MappingProxyType(
    {
        "STOP": "completed",
        "FINISH_REASON_UNSPECIFIED": "completed",
        "MAX_TOKENS": "max_budget",
        "SAFETY": "refusal",
        "RECITATION": "refusal",
        "LANGUAGE": "refusal",
        "BLOCKLIST": "refusal",
        "PROHIBITED_CONTENT": "refusal",
        "SPII": "refusal",
        "IMAGE_SAFETY": "refusal",
        "IMAGE_PROHIBITED_CONTENT": "refusal",
    }
)


def end_reason(finish_reason: str | None) -> str:
    """`agent_end.reason` for the API's finish reason.

    None and the empty string are `completed`; an unknown reason is `failed`.
    """
    if not finish_reason:
        return "completed"
    return _REASONS.get(finish_reason, "failed")


def end_reason_of_calls(completed: Sequence[CompletedToolCall]) -> str | None:
    """`agent_end.reason` after a batch of calls; `None` where the model gets their results."""
    responses = [call.response for call in completed]
    if any(
        each.error_type is ToolErrorType.STOP_EXECUTION and each.error is not None
        for each in responses
    ):
        return "completed"
    fatal = any(each.error_type is not None and each.error_type.is_fatal for each in responses)
    return "failed" if fatal else None
