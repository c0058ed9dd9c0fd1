from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.edit_distance import nearest_names
from services.policy.patterns import compile_pattern
from services.scheduler.calls import CallStatus, ToolCallRequest
from services.tools.contract import ToolErrorType


@pytest.mark.parametrize(
    ("unknown", "names", "suggestion"),
    [
        (
            "no_such_tool",
            [
                "update_topic", "list_directory", "read_file", "grep_search", "glob", "replace",
                "write_file", "web_fetch",
            ],
            ' Did you mean one of: "update_topic", "list_directory", "read_file"?',
        ),
        ("read_fil", ["glob", "read_file"], ' Did you mean one of: "read_file", "glob"?'),
        ("x", ["glob"], ' Did you mean "glob"?'),
        ("c", ["😀", "b"], ' Did you mean one of: "b", "😀"?'),
        ("x", [], ""),
    ],
)  # fmt: skip
def test_the_nearest_names_are_suggested(unknown: str, names: list[str], suggestion: str) -> None:
    assert nearest_names(unknown, names) == suggestion


@pytest.mark.contract("P-037")
async def test_an_unknown_tool_is_an_error_with_a_suggestion(rig: Any) -> None:
    rig.tool("glob")

    [call] = await rig.run(rig.request("grob", "c"))

    message = 'Tool "grob" not found. Did you mean "glob"?'
    assert (call.status, call.response.error) == (CallStatus.ERROR, message)
    assert call.response.error_type is ToolErrorType.TOOL_NOT_REGISTERED
    assert call.response.response_parts == (
        {"functionResponse": {"id": "c", "name": "grob", "response": {"error": message}}},
    )
    assert (call.tool, call.invocation) == (None, None)
    assert rig.states("c") == "error"


async def test_refused_arguments_are_an_error_with_the_tools_message(rig: Any) -> None:
    tool = rig.tool("t", refuses="params/x must be string")

    [call] = await rig.run(rig.request("t"))

    assert (call.response.error, call.response.result_display) == ("params/x must be string",) * 2
    assert call.response.error_type is ToolErrorType.INVALID_TOOL_PARAMS
    assert call.response.content_length == len("params/x must be string")
    assert call.tool is tool
    assert tool.ran == []


async def test_a_call_is_shown_by_its_tool_unless_it_says_how(rig: Any) -> None:
    rig.tool("t", display_name="Tee")

    [call] = await rig.run(rig.request("t", a=1))
    assert call.request.display is not None
    assert (call.request.display.name, call.request.display.description) == ("Tee", "t {'a': 1}")

    [again] = await rig.run(replace(rig.request("t"), display=call.request.display))
    assert again.request.display is call.request.display


async def test_a_denied_call_has_the_message_of_the_rule(rig: Any) -> None:
    tool = rig.tool("t")
    rig.rule("t", "deny", args_pattern=compile_pattern("secret"), deny_message="It is private.")

    refused, done = await rig.run(rig.request("t", "a", p="secret"), rig.request("t", "b"))

    assert refused.response.error == "Tool execution denied by policy. It is private."
    assert refused.response.error_type is ToolErrorType.POLICY_VIOLATION
    assert (refused.tool, refused.invocation) == (tool, None)
    assert rig.states("a") == "validating > error"
    assert done.status is CallStatus.SUCCESS
    assert tool.ran == [{}]


async def test_a_denial_without_a_message_is_short(rig: Any) -> None:
    rig.tool("t")
    rig.rule("t", "deny")

    [call] = await rig.run(rig.request("t"))

    assert call.response.error == "Tool execution denied by policy."


async def test_a_headless_run_refuses_a_call_that_needs_a_confirmation(headless: Any) -> None:
    headless.tool("t", display_name="Tee")
    headless.rule("t", "ask_user")

    [call] = await headless.run(headless.request("t"))

    assert call.response.error == (
        'Tool execution for "Tee" requires user confirmation, '
        "which is not supported in non-interactive mode."
    )
    assert call.response.error_type is ToolErrorType.UNHANDLED_EXCEPTION
    assert headless.states("t") == "validating > error"


@pytest.mark.parametrize(
    ("args", "status"),
    [({}, CallStatus.SUCCESS), ({"additional_permissions": {"x": 1}}, CallStatus.ERROR)],
)
async def test_a_call_of_the_client_needs_no_confirmation(
    headless: Any, args: dict[str, Any], status: CallStatus
) -> None:
    headless.tool("t")
    headless.rule("t", "ask_user")
    request = ToolCallRequest(
        call_id="t", name="t", args=args, prompt_id="p", is_client_initiated=True
    )

    [call] = await headless.run(request)

    assert call.status is status


async def test_the_policy_may_deny_a_call_of_the_client(rig: Any) -> None:
    rig.tool("t")
    rig.rule("t", "deny")
    request = ToolCallRequest(
        call_id="t", name="t", args={}, prompt_id="p", is_client_initiated=True
    )

    [call] = await rig.run(request)

    assert call.response.error_type is ToolErrorType.POLICY_VIOLATION
