import pytest

from services.presentation.finish import end_reason, end_reason_of_calls
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)
from services.tools.contract import ToolErrorType


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


def failed(error_type: ToolErrorType | None, error: str | None = "e") -> CompletedToolCall:
    request = ToolCallRequest(call_id="1", name="f", args={}, prompt_id="p")
    response = ToolCallResponse(call_id="1", response_parts=(), error=error, error_type=error_type)
    return CompletedToolCall(request=request, response=response, status=CallStatus.ERROR)


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([], None),
        ([failed(None), failed(ToolErrorType.INVALID_TOOL_PARAMS)], None),
        ([failed(ToolErrorType.STOP_EXECUTION, None)], None),
        ([failed(None), failed(ToolErrorType.NO_SPACE_LEFT)], "failed"),
        ([failed(ToolErrorType.NO_SPACE_LEFT), failed(ToolErrorType.FILE_NOT_FOUND)], "failed"),
        ([failed(ToolErrorType.NO_SPACE_LEFT), failed(ToolErrorType.STOP_EXECUTION)], "completed"),
        ([failed(ToolErrorType.STOP_EXECUTION), failed(ToolErrorType.NO_SPACE_LEFT)], "completed"),
    ],
)
def test_a_batch_ends_the_stream_that_a_hook_stopped_or_a_full_disk_did(
    calls: list[CompletedToolCall], reason: str | None
) -> None:
    assert end_reason_of_calls(calls) == reason
