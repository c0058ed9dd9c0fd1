from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.state import ApprovalMode, PrivilegedModeRefused
from services.tools.contract import ConfirmationOutcome

ONCE = ConfirmationOutcome.PROCEED_ONCE
EMPTY = "Plan file is empty. You must write content to the plan file before requesting approval."


@pytest.fixture
def planning(bench):
    bench.state.set_approval_mode(ApprovalMode.PLAN)
    bench.state.interactive = True
    bench.host.plans.mkdir(parents=True)
    return bench


def plan(bench, name: str = "p.md", text: str | bytes = "# Plan\n") -> Path:
    file: Path = bench.host.plans / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def asked(bench, payload: object = None, name: str = "p.md"):
    """A call whose question the user answered."""
    call = bench.build("exit_plan_mode", plan_filename=name)
    assert call.needs_decision()
    call.answered(ONCE, payload)
    return call


@pytest.mark.parametrize(
    ("chosen", "mode", "words"),
    [
        ("default", "default", "Default mode (edits will require confirmation)"),
        (None, "default", "Default mode (edits will require confirmation)"),
        ("autoEdit", "autoEdit", "Auto-Edit mode (edits will be applied automatically)"),
        ("yolo", "yolo", "YOLO mode (all tool calls auto-approved)"),
    ],
)
@pytest.mark.contract("P-262")
async def test_an_approved_plan_ends_plan_mode(planning, chosen, mode, words):
    file = plan(planning)
    planning.state.sequence_model = "gemini-2.5-pro"

    result = await planning.execute(asked(planning, {"approved": True, "approvalMode": chosen}))

    assert result.llm_content == (
        f"Plan approved. Switching to {words}.\n\n"
        f"The approved implementation plan is stored at: {file}\n"
        "Read and follow the plan strictly during implementation."
    )
    assert result.return_display == f"Plan approved: {file}"
    assert planning.state.approval_mode == mode
    assert planning.state.approved_plan == file
    assert planning.state.sequence_model is None


@pytest.mark.parametrize(("interactive", "mode"), [(True, "default"), (False, "yolo")])
@pytest.mark.contract("P-265")
async def test_a_plan_that_the_policy_allows_is_not_looked_at(planning, interactive, mode):
    planning.state.interactive = interactive
    result = await planning.run("exit_plan_mode", plan_filename="missing.md")
    assert planning.state.approval_mode == mode
    assert planning.state.approved_plan == planning.host.plans / "missing.md"
    assert result.error is None


@pytest.mark.parametrize("chosen", ["plan", "auto_edit", "", 7, ["yolo"]])
async def test_an_approval_with_another_mode_changes_nothing(planning, chosen):
    plan(planning)
    call = asked(planning, {"approved": True, "approvalMode": chosen})
    with pytest.raises(ValueError, match="Unexpected approval mode"):
        await planning.execute(call)
    assert planning.state.approval_mode is ApprovalMode.PLAN
    assert planning.state.approved_plan is None


async def test_an_untrusted_folder_refuses_a_mode_that_asks_less(planning, monkeypatch):
    plan(planning)
    monkeypatch.setattr(planning.state, "_folder_trusted", False)
    with pytest.raises(PrivilegedModeRefused):
        await planning.execute(asked(planning, {"approved": True, "approvalMode": "yolo"}))
    assert planning.state.approved_plan is None


@pytest.mark.parametrize(
    ("feedback", "said", "shown", "advice"),
    [
        (
            " less\n",
            "User feedback: less",
            "Feedback: less",
            "Revise the plan based on the feedback.",
        ),
        *(
            (
                none,
                "No feedback provided.",
                "Rejected (no feedback)",
                "Ask the user for specific feedback on how to improve the plan.",
            )
            for none in ("", " \n", None, 7)
        ),
    ],
)
@pytest.mark.contract("P-263")
async def test_a_rejected_plan_leaves_plan_mode_in_force(planning, feedback, said, shown, advice):
    file = plan(planning)
    result = await planning.execute(asked(planning, {"approved": False, "feedback": feedback}))
    assert result.llm_content == (
        f"Plan rejected. {said}\n\nThe plan is stored at: {file}\n{advice}"
    )
    assert result.return_display == shown
    assert planning.state.approval_mode is ApprovalMode.PLAN
    assert planning.state.approved_plan is None


async def test_a_cancelled_dialog_leaves_plan_mode_in_force(planning):
    plan(planning)
    call = asked(planning, {"approved": True})
    call.answered(ConfirmationOutcome.CANCEL, None)
    result = await planning.execute(call)
    assert result.llm_content == (
        "User cancelled the plan approval dialog. The plan was not approved and you are still in "
        "Plan Mode."
    )
    assert result.return_display == "Cancelled"
    assert planning.state.approval_mode is ApprovalMode.PLAN


async def test_an_answer_that_opens_an_editor_keeps_its_payload(planning):
    plan(planning)
    call = asked(planning, {"approved": False, "feedback": "later"})
    call.answered(ONCE, None)
    assert (await planning.execute(call)).return_display == "Feedback: later"


async def refusal(bench, name: str) -> object:
    call = bench.build("exit_plan_mode", plan_filename=name)
    assert not call.needs_decision()
    result = await bench.execute(call)
    assert result.error is None
    assert result.return_display == "Error: Invalid plan"
    assert bench.state.approval_mode is ApprovalMode.PLAN
    return result.llm_content


@pytest.mark.contract("P-264")
async def test_a_missing_plan_is_not_shown_to_the_user(planning):
    assert await refusal(planning, " p.md ") == (
        "Plan file does not exist:  p.md . You must create the plan file before requesting "
        "approval."
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t\u3000",
        "\ufeff \n",
        b"\xff\xfe",
        b"\xfe\xff  ",
        b"\xff\xfe\0\0",
        " " * 1024 + "late",
    ],
)
async def test_a_plan_without_text_is_not_shown_to_the_user(planning, text):
    plan(planning, text=text)
    assert await refusal(planning, "p.md") == EMPTY


@pytest.mark.parametrize("text", ["x", b"\0", " " * 1023 + "x", b"\xef\xbb\xbfx"])
def test_a_plan_with_text_is_shown_to_the_user(planning, text):
    file = plan(planning, text=text)
    details = asked(planning).confirmation_details()
    assert (details.type, details.title) == ("exit_plan_mode", "Plan Approval")
    assert details.fields == {"planPath": str(file)}


async def test_folders_and_pipes_are_empty_plans(planning):
    os.mkfifo(planning.host.plans / "pipe")
    for name in ("pipe", ".", "../plans"):
        assert await refusal(planning, name) == EMPTY


async def test_a_plan_that_became_a_link_to_elsewhere_is_denied(planning):
    file = plan(planning)
    call = planning.build("exit_plan_mode", plan_filename="p.md")
    file.unlink()
    file.symlink_to("/etc/hostname")
    assert not call.needs_decision()


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "plan_filename is required."),
        (" \n", "plan_filename is required."),
        ("../p.md", "Access denied: plan path (../p.md) must be within"),
        (" /etc/passwd ", "Access denied: plan path (/etc/passwd) must be within"),
        ("link/p.md", "Access denied: plan path (link/p.md) must be within"),
        ("ring", "ELOOP: too many symbolic links"),
        ("p\0.md", "Invalid path: "),
    ],
)
def test_other_files_are_no_plans(planning, name, fault):
    (planning.host.plans / "link").symlink_to("/etc")
    (planning.host.plans / "ring").symlink_to(planning.host.plans / "ring")
    assert planning.fault("exit_plan_mode", plan_filename=name).startswith(fault)


@pytest.mark.parametrize("name", ["p.md", "./x/../p.md", " p.md", "{plans}/p.md", "../plans/p.md"])
def test_a_plan_may_be_named_by_any_path_to_it(planning, name):
    plan(planning)
    call = asked(planning, name=name.format(plans=planning.host.plans))
    shown = Path(call.confirmation_details().fields["planPath"])
    assert shown.resolve() == planning.host.plans / "p.md"


@pytest.mark.parametrize(
    ("name", "path"), [("p.md", "p.md"), ("a/../b/", "b/"), ("/x.md", "x.md"), (" p", " p")]
)
def test_the_description_joins_the_folder_and_the_name(planning, name, path):
    tool = planning.registry.get("exit_plan_mode")
    call = tool.invocation({"plan_filename": name})
    assert call.description() == f"Requesting plan approval for: {planning.host.plans}/{path}"
