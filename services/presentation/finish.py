"""Why a stream ended, from why the model stopped. Source: `event-translator.ts`, reference 5."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["end_reason"]

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

    None and the empty string are `completed`; what the table does not name is `failed`.
    """
    if not finish_reason:
        return "completed"
    return _REASONS.get(finish_reason, "failed")
