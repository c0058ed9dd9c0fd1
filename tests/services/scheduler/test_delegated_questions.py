"""Calls that are confirmed as the call would be to which they hand their work."""

from __future__ import annotations

from typing import Any

import pytest

from services.policy.patterns import compile_pattern
from services.scheduler.calls import CallStatus
from tests.services.scheduler.conftest import ScriptedTool
from tests.services.scheduler.delegating import DelegatingTool


@pytest.fixture
def tool(rig: Any) -> ScriptedTool:
    made = DelegatingTool("outer", display_name="The Outer")
    rig.tools.by_name["outer"] = made
    rig.rule("outer", "ask_user")
    return made


async def test_the_user_is_asked_if_the_other_call_needs_a_confirmation(
    rig: Any, tool: ScriptedTool
) -> None:
    rig.rule("inner", "ask_user")
    rig.answer("proceed_once")
    [call] = await rig.run(rig.request("outer", prompt="go"))
    assert call.status is CallStatus.SUCCESS
    assert len(rig.questions) == 1


@pytest.mark.parametrize(("prompt", "ran"), [("go", 0), ("stay", 1)])
async def test_the_policy_gets_the_arguments_of_the_other_call(
    rig: Any, tool: ScriptedTool, prompt: str, ran: int
) -> None:
    rig.rule("inner", "deny", args_pattern=compile_pattern('"query":"go"'))
    await rig.run(rig.request("outer", prompt=prompt))
    assert len(tool.ran) == ran


async def test_a_call_allowed_for_the_other_tool_needs_no_question(
    rig: Any, tool: ScriptedTool
) -> None:
    [call] = await rig.run(rig.request("outer", prompt="go"))
    assert call.status is CallStatus.SUCCESS
    assert rig.questions == []


async def test_a_call_denied_for_the_other_tool_is_refused_under_its_name(
    rig: Any, tool: ScriptedTool
) -> None:
    rig.rule("inner", "deny")
    [call] = await rig.run(rig.request("outer", prompt="go"))
    assert call.status is not CallStatus.SUCCESS
    (part,) = call.response.response_parts
    assert 'Tool execution for "The Inner" denied by policy.' in str(part)
    assert tool.ran == []
