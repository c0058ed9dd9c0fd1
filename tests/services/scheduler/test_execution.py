from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.abort import AbortError
from services.mcp.progress import McpProgress
from services.scheduler.calls import CallStatus
from services.tools.contract import (
    CallProgress,
    ToolErrorType,
    ToolExecution,
    ToolFailure,
    ToolResult,
)
from services.wire import js_json


def returns(**fields: Any) -> Callable[..., Any]:
    async def body(_params: object, _execution: ToolExecution) -> ToolResult:
        return ToolResult(**fields)

    return body


def raises(error: Exception) -> Callable[..., Any]:
    async def body(_params: object, _execution: ToolExecution) -> ToolResult:
        raise error

    return body


def response_of(call: Any) -> dict[str, Any]:
    response: dict[str, Any] = call.response.response_parts[0]["functionResponse"]["response"]
    return response


async def test_a_successful_response_has_all_values_of_the_result(rig: Any) -> None:
    rig.tool("t", body=returns(llm_content="é😀", return_display={"k": 1}, data={"d": 2}))

    [call] = await rig.run(rig.request("t"))

    assert response_of(call) == {"output": "é😀"}
    assert (call.response.result_display, call.response.data) == ({"k": 1}, {"d": 2})
    assert (call.response.content_length, call.response.error) == (3, None)
    assert call.invocation is not None


async def test_a_servers_notices_of_progress_are_published_while_the_call_runs(rig: Any) -> None:
    def note(call_id: str, progress: float, **more: Any) -> None:
        rig.scheduler.note_progress(
            McpProgress(server_name="s", call_id=call_id, progress=progress, **more)
        )

    async def body(_params: object, _execution: ToolExecution) -> ToolResult:
        note("t", 1, total=4, message="a quarter")
        note("t", 2.5, total=0)
        note("t", 9, total=4)
        note("other", 3)
        return ToolResult(llm_content="done", return_display="done")

    rig.tool("t", body=body)

    await rig.run(rig.request("t"))
    note("t", 4)

    shown = [update.calls[0].progress for update in rig.updates if update.calls]
    assert [each for at, each in enumerate(shown) if each not in shown[:at]] == [
        None,
        CallProgress(done=1, total=4, percent=25, message="a quarter"),
        CallProgress(done=2.5, total=4, percent=25, message="a quarter"),
        CallProgress(done=9, total=4, percent=100, message="a quarter"),
    ]
    assert shown[-1] is None


async def test_content_that_is_no_text_has_no_length(rig: Any) -> None:
    rig.tool("t", body=returns(llm_content=["a", {"text": "b"}]))

    [call] = await rig.run(rig.request("t"))

    assert response_of(call) == {"output": "a\nb"}
    assert call.response.content_length is None


async def test_the_active_model_decides_where_images_go(rig: Any) -> None:
    png = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    rig.tool("t", body=returns(llm_content=[png]))

    [before] = await rig.run(rig.request("t"))
    rig.state.set_active_model("gemini-3-pro-preview")
    [after] = await rig.run(rig.request("t"))

    assert len(before.response.response_parts) == 2
    assert len(after.response.response_parts) == 1


@pytest.mark.parametrize(
    ("display", "shown"), [("File not found.", "File not found."), ({"k": 1}, "long message")]
)
async def test_a_failure_gives_the_model_its_message_only(
    rig: Any, display: Any, shown: str
) -> None:
    failure = ToolFailure(message="long message", type=ToolErrorType.FILE_NOT_FOUND)
    rig.tool("t", body=returns(llm_content="ignored", return_display=display, error=failure))

    [call] = await rig.run(rig.request("t"))

    assert response_of(call) == {"error": "long message"}
    assert (call.response.error, call.response.result_display) == ("long message", shown)
    assert call.response.error_type is ToolErrorType.FILE_NOT_FOUND
    assert call.response.content_length == len(shown)
    assert call.invocation is None
    assert rig.states("t") == "validating > scheduled > executing > error"


async def test_an_exception_is_an_error(rig: Any) -> None:
    rig.tool("t", body=raises(RuntimeError("boom")))
    rig.tool("fine")

    call, other = await rig.run(rig.request("t"), rig.request("fine"))

    assert (call.status, response_of(call)) == (CallStatus.ERROR, {"error": "boom"})
    assert call.response.error_type is ToolErrorType.UNHANDLED_EXCEPTION
    assert other.status is CallStatus.SUCCESS


async def test_content_that_cannot_be_converted_is_an_error(rig: Any) -> None:
    rig.tool("t", body=returns(llm_content=[3]))

    [call] = await rig.run(rig.request("t"))

    assert call.response.error_type is ToolErrorType.UNHANDLED_EXCEPTION


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (AbortError(), "Operation cancelled."),
        (RuntimeError("x: Operation cancelled by user."), "User cancelled tool execution."),
    ],
)
async def test_some_exceptions_are_cancellations(rig: Any, error: Exception, text: str) -> None:
    rig.tool("t", body=raises(error))

    [call] = await rig.run(rig.request("t"))

    assert (call.status, call.response.error_type) == (CallStatus.CANCELLED, None)
    assert response_of(call) == {"error": f"[Operation Cancelled] {text}"}
    assert call.response.content_length == len(js_json(list(call.response.response_parts)))


@pytest.mark.parametrize(
    ("content", "response"),
    [
        (
            "half",
            {"output": "half", "error": "[Operation Cancelled] User cancelled tool execution."},
        ),
        ("", {"error": "[Operation Cancelled] User cancelled tool execution."}),
        (
            [{"functionResponse": {"response": {"k": 1}}}],
            {"k": 1, "error": "[Operation Cancelled] User cancelled tool execution."},
        ),
    ],
)
async def test_a_tool_that_returns_after_an_abort_keeps_its_output(
    rig: Any, content: Any, response: dict[str, Any]
) -> None:
    async def body(_params: object, _execution: ToolExecution) -> ToolResult:
        rig.controller.abort()
        return ToolResult(llm_content=content, return_display="shown")

    rig.tool("t", body=body)

    [call] = await rig.run(rig.request("t"))

    assert (call.status, call.response.error) == (CallStatus.CANCELLED, None)
    assert response_of(call) == response
    assert call.response.result_display == "shown"
    assert call.response.content_length == len(js_json(list(call.response.response_parts)))


async def test_an_exception_after_an_abort_is_a_cancellation(rig: Any) -> None:
    async def body(_params: object, execution: ToolExecution) -> ToolResult:
        rig.controller.abort()
        assert execution.signal.aborted
        raise RuntimeError("broken pipe")

    rig.tool("t", body=body)

    [call] = await rig.run(rig.request("t"))

    assert response_of(call) == {"error": "[Operation Cancelled] User cancelled tool execution."}


async def test_live_output_is_for_tools_that_declare_it(rig: Any) -> None:
    async def body(_params: object, execution: ToolExecution) -> ToolResult:
        assert execution.set_process_id is not None
        execution.set_process_id(4242)
        if execution.update_output is None:
            return ToolResult(llm_content="quiet")
        execution.update_output("one")
        execution.update_output("two")
        return ToolResult(llm_content="loud")

    rig.tool("loud", body=body, can_update_output=True)
    rig.tool("quiet", body=body)

    loud, quiet = await rig.run(rig.request("loud"), rig.request("quiet"))

    assert (response_of(loud), response_of(quiet)) == ({"output": "loud"}, {"output": "quiet"})
    lives = [call.live_output for update in rig.updates for call in update.calls]
    assert [live for live in dict.fromkeys(lives) if live] == ["one", "two"]
    assert 4242 in [call.process_id for update in rig.updates for call in update.calls]


async def test_output_that_comes_late_changes_nothing(rig: Any) -> None:
    kept: list[Any] = []

    async def body(_params: object, execution: ToolExecution) -> ToolResult:
        kept.append(execution.update_output)
        return ToolResult(llm_content="done")

    async def late(_params: object, _execution: ToolExecution) -> ToolResult:
        kept[0]("late")
        return ToolResult(llm_content="later")

    rig.tool("a", body=body, can_update_output=True)
    rig.tool("b", body=late)

    await rig.run(rig.request("a"), rig.request("b"))
    kept[0]("later still")

    assert rig.states("a") == "validating > scheduled > executing > success"
