from __future__ import annotations

import pytest

from services.state import ApprovalMode
from services.tools.contract import ConfirmationOutcome


@pytest.mark.contract("P-261")
async def test_the_session_switches_to_plan_mode_and_has_a_folder_for_plans(bench):
    bench.state.set_approval_mode(ApprovalMode.DEFAULT)
    call = bench.build("enter_plan_mode", reason="it is big")
    assert call.description() == "it is big"

    result = await bench.execute(call)

    assert bench.state.approval_mode is ApprovalMode.PLAN
    assert bench.host.plans.is_dir()
    assert result.llm_content == "Switching to Plan mode."
    assert result.return_display == "Switching to Plan mode: it is big"


@pytest.mark.parametrize("params", [{}, {"reason": ""}])
async def test_a_reason_may_be_left_out(bench, params):
    call = bench.build("enter_plan_mode", **params)
    assert call.description() == "Initiating Plan Mode"
    assert (await bench.execute(call)).return_display == "Switching to Plan mode"


def test_the_question_explains_plan_mode(bench):
    call = bench.build("enter_plan_mode")
    assert call.needs_decision()
    details = call.confirmation_details()
    assert (details.type, details.title) == ("info", "Enter Plan Mode")
    assert details.fields == {
        "prompt": "This will restrict the agent to read-only tools to allow for safe planning."
    }


async def test_a_cancelled_call_leaves_the_mode(bench):
    call = bench.build("enter_plan_mode")
    call.answered(ConfirmationOutcome.CANCEL, None)
    result = await bench.execute(call)
    assert result.llm_content == "User cancelled entering Plan Mode."
    assert bench.state.approval_mode is ApprovalMode.YOLO


async def test_plan_mode_begins_without_a_folder_that_cannot_be_made(bench, caplog):
    bench.host.plans.parent.parent.mkdir(parents=True)
    bench.host.plans.parent.write_text("in the way")

    result = await bench.run("enter_plan_mode")

    assert result.error is None
    assert bench.state.approval_mode is ApprovalMode.PLAN
    assert "cannot create the folder for plans" in caplog.text


async def test_the_sticky_model_is_cleared(bench):
    bench.state.sequence_model = "gemini-2.5-flash"
    await bench.run("enter_plan_mode")
    assert bench.state.sequence_model is None
