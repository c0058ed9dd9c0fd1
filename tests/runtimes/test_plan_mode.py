"""Plan mode in a conversation: what requests declare, and how the user leaves it."""

from __future__ import annotations

from typing import Any

import pytest

from runtimes.contract import LeavesPlanMode, Runtime
from services.state import ApprovalMode, PrivilegedModeRefused
from tests.runtimes.kit import Kit, Played

SAID = (
    "User has manually exited Plan Mode. Switching to Default mode (edits will require "
    "confirmation)."
)


def leaving(kit: Kit, mode: ApprovalMode, *, start: ApprovalMode, trusted: bool = True) -> Played:
    """Send a message before and after the user leaves plan mode."""

    async def script(played: Played, runtime: Runtime) -> None:
        assert isinstance(runtime, LeavesPlanMode)
        agent = runtime.agent()
        await agent.send(kit.message("plan"))
        await runtime.settled()
        await runtime.leave_plan_mode(mode)
        await agent.send(kit.message("go on"))
        await runtime.settled()

    steps = [[kit.text("planned", "STOP")], [kit.text("done", "STOP")]]
    return kit.run(script, steps, approval_mode=start, folder_trusted=trusted)


def sent(played: Played) -> list[str]:
    return [part["text"] for part in played.model.requests[-1].contents[-1]["parts"]]


@pytest.mark.contract("P-266")
def test_a_user_who_leaves_plan_mode_tells_the_model(kit: Kit) -> None:
    played = leaving(kit, ApprovalMode.DEFAULT, start=ApprovalMode.PLAN)
    assert sent(played) == [SAID, "go on"]
    assert SAID in str([line for line in played.lines if line.get("type") == "user"])
    assert played.services.state.approval_mode is ApprovalMode.DEFAULT


def test_outside_of_plan_mode_the_history_stays_as_it_is(kit: Kit) -> None:
    played = leaving(kit, ApprovalMode.DEFAULT, start=ApprovalMode.AUTO_EDIT)
    assert sent(played) == ["go on"]


def test_a_mode_that_the_folder_does_not_allow_leaves_plan_mode_in_force(kit: Kit) -> None:
    with pytest.raises(PrivilegedModeRefused):
        leaving(kit, ApprovalMode.YOLO, start=ApprovalMode.PLAN, trusted=False)


@pytest.mark.contract("P-266")
def test_tools_follow_the_mode_from_one_request_of_a_prompt_to_the_next(kit: Kit) -> None:
    played = kit.play(
        [
            [kit.parts_chunk(kit.call("enter_plan_mode", {}), finish="STOP")],
            [kit.parts_chunk(kit.call("exit_plan_mode", {"plan_filename": "p.md"}), finish="STOP")],
            [kit.text("done", "STOP")],
        ],
        approval_mode=ApprovalMode.DEFAULT,
    )
    tools = [request.config["tools"][0] for request in played.model.requests]
    declared: list[Any] = [
        {each["name"]: each["description"] for each in tool["functionDeclarations"]}
        for tool in tools
    ]
    assert ["enter_plan_mode" in each for each in declared] == [True, False, True]
    assert ["exit_plan_mode" in each for each in declared] == [False, True, False]
    assert [each.get("write_file", "").startswith("ONLY FOR PLANS") for each in declared] == [
        False,
        True,
        False,
    ]
    assert played.services.state.approval_mode is ApprovalMode.YOLO
