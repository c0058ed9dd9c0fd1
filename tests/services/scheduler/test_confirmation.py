from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from services.message_bus import ToolConfirmationRequest, ToolConfirmationResponse, UpdatePolicy
from services.policy.updates import TOOLS_REQUIRING_NARROWING
from services.scheduler.calls import CallStatus
from services.settings import Settings
from services.state import ApprovalMode, ApprovalModeChanged, UserFeedback
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome, ToolErrorType

ASKED = "validating > awaiting_approval > scheduled > executing > success"


def edit(_params: object) -> ConfirmationDetails:
    fields = {
        "filePath": "/elsewhere/a.txt",
        "fileName": "a.txt",
        "fileDiff": "+x",
        "originalContent": "",
        "newContent": "x",
    }
    return ConfirmationDetails(type="edit", title="Confirm Write: a.txt", fields=fields)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("proceed_once", ConfirmationOutcome.PROCEED_ONCE),
        ("proceed_always", ConfirmationOutcome.PROCEED_ALWAYS),
        ("proceed_always_tool", ConfirmationOutcome.PROCEED_ALWAYS_TOOL),
        ({"confirmed": True}, ConfirmationOutcome.PROCEED_ONCE),
    ],
)
@pytest.mark.contract("P-188")
async def test_an_approved_call_runs(rig: Any, answer: Any, outcome: ConfirmationOutcome) -> None:
    tool = rig.tool("t")
    rig.rule("t", "ask_user")
    rig.answer(answer)

    [call] = await rig.run(rig.request("t", a=1))

    assert (call.status, call.outcome) == (CallStatus.SUCCESS, outcome)
    assert tool.ran == [{"a": 1}]
    assert rig.states("t") == ASKED
    [question] = rig.questions
    assert question.confirmation_details.title == "Confirm"


@pytest.mark.parametrize("answer", ["cancel", {"confirmed": False}])
async def test_a_refusal_cancels_the_call_and_the_queue(rig: Any, answer: Any) -> None:
    asked, beside, after = rig.tool("asked"), rig.tool("beside"), rig.tool("write_file")
    rig.tool("picky", refuses="no")
    rig.rule("asked", "ask_user")
    rig.answer(answer)

    names = ["asked", "beside", "write_file", "picky"]
    calls = await rig.run(*[rig.request(name) for name in names])

    responses = {
        call.request.name: call.response.response_parts[0]["functionResponse"]["response"]
        for call in calls
    }
    assert responses["asked"] == {"error": "[Operation Cancelled] Reason: User denied execution."}
    assert responses["write_file"] == {
        "error": "[Operation Cancelled] Reason: User cancelled operation"
    }
    assert responses["beside"] == {"output": "done"}
    assert responses["picky"] == {"error": "no"}
    assert (asked.ran, beside.ran, after.ran) == ([], [{}], [])
    assert rig.states("asked") == "validating > awaiting_approval > cancelled"
    assert rig.states("write_file") == "validating > cancelled"
    assert all(
        call.response.error_type is None for call in calls if call.status is CallStatus.CANCELLED
    )


async def test_the_questions_of_a_wave_can_be_answered_in_any_order(rig: Any) -> None:
    rig.tool("t")
    rig.rule("t", "ask_user")
    task = asyncio.create_task(rig.run(rig.request("t", "a"), rig.request("t", "b")))
    for _ in range(20):
        await asyncio.sleep(0)
    questions = {call.call_id: call.correlation_id for call in rig.updates[-1].calls}
    assert len(set(questions.values())) == 2

    for call_id, outcome in (("b", "cancel"), ("a", "proceed_once"), ("a", "cancel")):
        rig.bus.publish(
            ToolConfirmationResponse(
                correlation_id=questions[call_id],
                confirmed=True,
                outcome=ConfirmationOutcome(outcome),
            )
        )

    statuses = {call.request.call_id: call.status for call in await task}
    assert statuses == {"a": CallStatus.SUCCESS, "b": CallStatus.CANCELLED}


async def test_a_call_without_confirmation_details_runs(rig: Any) -> None:
    rig.tool("t", details=lambda _params: None)
    rig.rule("t", "ask_user")

    [call] = await rig.run(rig.request("t"))

    assert call.outcome is ConfirmationOutcome.PROCEED_ONCE
    assert rig.states("t") == "validating > scheduled > executing > success"


async def test_without_an_editor_the_question_is_repeated(rig: Any) -> None:
    rig.tool("t")
    rig.rule("t", "ask_user")
    rig.answer("modify_with_editor", "proceed_once")

    [call] = await rig.run(rig.request("t"))

    assert call.status is CallStatus.SUCCESS
    assert len({question.correlation_id for question in rig.questions}) == 2
    assert rig.feedback == [
        UserFeedback(
            severity="error",
            message="No external editor is available. Please run /editor to configure one.",
        )
    ]


@pytest.mark.parametrize("outcome", ["proceed_once", "cancel"])
async def test_new_content_is_applied_whatever_the_outcome(
    rig: Any, editable: Any, outcome: str
) -> None:
    tool = rig.tool("write_file", editable, details=edit)
    rig.rule("write_file", "ask_user")
    rig.answer({"outcome": outcome, "payload": {"newContent": "mine"}})

    [call] = await rig.run(rig.request("write_file", content="theirs"))

    assert tool.ran == [{"content": "mine", "over": "old theirs"}]
    assert call.request.args == tool.ran[0]
    assert call.outcome is ConfirmationOutcome.PROCEED_ONCE
    assert call.request.display is not None
    assert "mine" in (call.request.display.description or "")


async def test_new_content_for_anything_but_an_edit_only_approves(rig: Any, editable: Any) -> None:
    tool = rig.tool("t", editable)
    rig.rule("t", "ask_user")
    rig.answer({"outcome": "cancel", "payload": {"newContent": "mine"}})

    await rig.run(rig.request("t", content="theirs"))

    assert tool.ran == [{"content": "theirs"}]


async def test_auto_edit_allows_edits_of_files_that_are_no_build_files(rig: Any) -> None:
    rig.tool("t", respects_auto_edit=True)
    rig.rule("t", "ask_user")
    rig.state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    rig.answer("cancel")

    plain, build = await rig.run(
        rig.request("t", "a", file_path="a.txt"), rig.request("t", "b", file_path="Makefile")
    )

    assert (plain.status, build.status) == (CallStatus.SUCCESS, CallStatus.CANCELLED)


async def test_a_denial_at_the_second_policy_check_is_an_error(rig: Any) -> None:
    tool = rig.tool("t", display_name="Tee")
    rig.rule("t", "ask_user")

    def refuse(request: ToolConfirmationRequest) -> None:
        rig.bus.publish(
            ToolConfirmationResponse(correlation_id=request.correlation_id, confirmed=False)
        )

    rig.scheduler.dispose()
    rig.bus.subscribe(ToolConfirmationRequest, refuse)

    [call] = await rig.run(rig.request("t"))

    assert call.response.error == 'Tool execution for "Tee" denied by policy.'
    assert call.response.error_type is ToolErrorType.UNHANDLED_EXCEPTION
    assert tool.ran == []


async def test_always_for_an_edit_switches_to_auto_edit(rig: Any) -> None:
    rig.tool("write_file", details=edit, narrowing={"argsPattern": "x"})
    rig.rule("write_file", "ask_user", modes=(ApprovalMode.DEFAULT,))
    rig.answer("proceed_always")

    await rig.run(rig.request("write_file"))

    assert rig.state.approval_mode is ApprovalMode.AUTO_EDIT
    assert rig.feedback == [ApprovalModeChanged(mode=ApprovalMode.AUTO_EDIT)]
    [update] = rig.policy_updates
    assert update.modes == (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO)
    assert update.args_pattern == "x"


def execute_details(_params: object) -> ConfirmationDetails:
    return ConfirmationDetails(type="exec", title="t", fields={"rootCommands": ["make"]})


def mcp_details(_params: object) -> ConfirmationDetails:
    return ConfirmationDetails(type="mcp", title="t", fields={"serverName": "srv"})


MODES = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO)
SAVED: dict[str, Any] = {"persist_scope": "user"}


@pytest.mark.parametrize(
    ("details", "narrowing", "outcome", "update"),
    [
        (execute_details, None, "proceed_always", {"command_prefix": ["make"]}),
        (
            execute_details,
            {"commandPrefix": ["npm"], "allowRedirection": True},
            "proceed_always",
            {"command_prefix": ["npm"], "allow_redirection": True},
        ),
        (execute_details, None, "proceed_always_and_save", {"command_prefix": ["make"], **SAVED}),
        (edit, {"argsPattern": "x"}, "proceed_always", {"args_pattern": "x"}),
        (mcp_details, None, "proceed_always", {"mcp_name": "srv"}),
        (mcp_details, None, "proceed_always_tool", {"mcp_name": "srv"}),
        (
            mcp_details,
            None,
            "proceed_always_server",
            {"mcp_name": "srv", "tool_name": "mcp_srv_*"},
        ),
        (mcp_details, None, "proceed_always_and_save", {"mcp_name": "srv", **SAVED}),
        (execute_details, None, "proceed_always_server", None),
        (execute_details, None, "proceed_once", None),
        (mcp_details, None, "proceed_once", None),
    ],
)
async def test_an_always_answer_becomes_a_policy_update(
    rig: Any, details: Any, narrowing: Any, outcome: str, update: dict[str, Any] | None
) -> None:
    rig.tool("t", details=details, narrowing=narrowing)
    rig.rule("t", "ask_user")
    rig.answer(outcome)

    await rig.run(rig.request("t"))

    wanted = (
        [] if update is None else [UpdatePolicy(**{"tool_name": "t", "modes": MODES, **update})]
    )
    assert rig.policy_updates == wanted


@pytest.mark.parametrize(
    ("trusted", "policies", "scope"),
    [
        (True, "/ws/.gemini/policies", "workspace"),
        (True, None, "user"),
        (False, "/ws/.gemini/policies", "user"),
    ],
)
async def test_a_saved_answer_goes_to_the_policies_of_the_workspace_if_allowed(
    tmp_path: Path, rig: Any, trusted: bool, policies: str | None, scope: str
) -> None:
    settings = Settings(folder_trusted=trusted, workspace_policies_dir=policies)
    kept = type(rig)(tmp_path, settings=settings)
    kept.tool("t")
    kept.rule("t", "ask_user")
    kept.answer("proceed_always_and_save")

    await kept.run(kept.request("t"))

    assert [update.persist_scope for update in kept.policy_updates] == [scope]


@pytest.mark.contract("P-190")
async def test_after_an_always_answer_there_is_no_further_question(rig: Any) -> None:
    rig.tool("t")
    rig.rule("t", "ask_user")
    rig.answer("proceed_always")

    await rig.run(rig.request("t"))
    await rig.run(rig.request("t"))

    assert len(rig.questions) == 1
    assert "t" not in TOOLS_REQUIRING_NARROWING


@pytest.mark.timeout(60)
async def test_a_question_without_a_decision_ends_at_a_limit(rig: Any) -> None:
    rig.tool("t")
    rig.rule("t", "ask_user")
    rig.answer("modify_with_editor")

    [call] = await rig.run(rig.request("t"))

    assert call.status is CallStatus.ERROR
    assert call.response.error == "The question was put 100 times without a decision"
    assert len(rig.questions) == 100
