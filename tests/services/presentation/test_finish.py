import pytest

from services.presentation.finish import end_reason


@pytest.mark.parametrize(
    ("finish_reason", "reason"),
    [
        (None, "completed"),
        ("", "completed"),
        ("STOP", "completed"),
        ("FINISH_REASON_UNSPECIFIED", "completed"),
        ("MAX_TOKENS", "max_budget"),
        ("SAFETY", "refusal"),
        ("RECITATION", "refusal"),
        ("LANGUAGE", "refusal"),
        ("BLOCKLIST", "refusal"),
        ("PROHIBITED_CONTENT", "refusal"),
        ("SPII", "refusal"),
        ("IMAGE_SAFETY", "refusal"),
        ("IMAGE_PROHIBITED_CONTENT", "refusal"),
        ("MALFORMED_FUNCTION_CALL", "failed"),
        ("OTHER", "failed"),
        ("UNEXPECTED_TOOL_CALL", "failed"),
        ("NO_IMAGE", "failed"),
        ("TOO_MANY_TOOL_CALLS", "failed"),
        ("IMAGE_RECITATION", "failed"),
        ("IMAGE_OTHER", "failed"),
        ("stop", "failed"),
    ],
)
def test_a_finish_reason_becomes_an_end_reason(finish_reason: str | None, reason: str) -> None:
    assert end_reason(finish_reason) == reason
