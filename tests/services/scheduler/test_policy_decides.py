"""Calls whose confirmation is up to the policy, even if a hook demands one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from services.message_bus import ToolConfirmationRequest
from services.scheduler.calls import CallStatus
from services.wire import JsonObject
from tests.services.scheduler.conftest import ScriptedInvocation, ScriptedTool


@dataclass
class Checked(ScriptedInvocation):
    """Needs a decision unless its argument says otherwise."""

    def needs_decision(self) -> bool:
        return self.params.get("good", True)


class CheckedTool(ScriptedTool):
    def build(self, params: JsonObject) -> Checked:
        return Checked(self, params)


@dataclass
class Requests:
    """The requests for the policy's second check."""

    seen: list[ToolConfirmationRequest] = field(default_factory=list)


@pytest.fixture
def tool(rig: Any) -> ScriptedTool:
    made = CheckedTool("exit", display_name="The Exit")
    rig.tools.by_name["exit"] = made
    return made


@pytest.fixture
def requests(rig: Any) -> Requests:
    found = Requests()
    rig.bus.subscribe(ToolConfirmationRequest, found.seen.append)
    return found


@pytest.mark.contract("P-264")
async def test_a_call_that_needs_no_decision_runs_without_any_question(
    rig: Any, tool: ScriptedTool, requests: Requests
) -> None:
    rig.rule("exit", "ask_user")
    [call] = await rig.run(rig.request("exit", good=False))
    assert call.status is CallStatus.SUCCESS
    assert (rig.questions, requests.seen) == ([], [])


async def test_the_user_is_asked_if_the_policy_says_so(rig: Any, tool: ScriptedTool) -> None:
    rig.rule("exit", "ask_user")
    rig.answer("proceed_once")
    [call] = await rig.run(rig.request("exit"))
    assert call.status is CallStatus.SUCCESS
    assert len(rig.questions) == 1
