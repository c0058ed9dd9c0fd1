"""Faults of plan mode."""

from __future__ import annotations

from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead, keeps, passing, result, returns
from services.state import ApprovalMode
from services.tools.contract import ToolResult

fault = Faults(Site.SERVICE, Behaviour.INTERACTIVE)
held_out = Faults(Site.SERVICE, Behaviour.INTERACTIVE, held_out=True)
_EXIT: Final = "services.tools.exit_plan_mode:ExitPlanModeInvocation"


class _Never:
    """The class of no call."""


approved_into_default_mode = fault.wrap(
    f"{_EXIT}._approved",
    passing(mode=lambda _: ApprovalMode.DEFAULT),
    says="An approved plan always leads to the default mode.",
    origin="a dialog that returns only yes or no",
)
feedback_lost = fault.wrap(
    "services.tools.exit_plan_mode:_rejected",
    passing(feedback=lambda _: None),
    says="The model does not receive the user's feedback on a plan.",
    origin="a dialog that returns only yes or no",
)
missing_plans_shown = fault.wrap(
    f"{_EXIT}.needs_decision",
    returns(True),
    says="The user is asked to approve a plan that does not exist.",
    origin="checks that stayed in the tool's own confirmation",
)
approved_plan_forgotten = fault.wrap(
    f"{_EXIT}._approved",
    keeps("host.state.approved_plan"),
    says="An approved plan does not lead to a flash model.",
    origin="a state of the session that a new engine does not know",
)
plans_are_yolo = fault.wrap(
    f"{_EXIT}._unasked_mode",
    returns(ApprovalMode.YOLO),
    says="A plan that a rule approves leads to yolo mode, although a user is present.",
    origin="headless defaults in a shared service",
)
hooks_force_questions_about_plans = fault.wrap(
    "services.scheduler.confirmation:PolicyDecides",
    lambda _: _Never,
    says="A hook that demands a question shows a plan that does not exist.",
    origin="a protocol checked in one of two places",
)


@fault("services.tools.write_file:_WriteFile._original", origin="a check at the start of a call")
def older_calls_write_anywhere(original: Any, self: Any) -> Any:
    """A call from before plan mode writes a file that is no plan."""
    mode = self.host.state._approval_mode
    self.host.state._approval_mode = ApprovalMode.DEFAULT
    try:
        return original(self)
    finally:
        self.host.state._approval_mode = mode


rejections_are_errors = held_out.wrap(
    "services.tools.exit_plan_mode:_rejected",
    result(lambda _: ToolResult(llm_content="Plan rejected.", return_display="Rejected")),
    says="The model learns only that the plan is rejected.",
    origin="a refusal handled as for other tools",
)
blank_plans_pass = held_out.wrap(
    "services.tools.exit_plan_mode:_is_empty",
    instead(lambda _, plan: plan.stat().st_size == 0),
    says="A plan of white space is shown to the user.",
    origin="a check by size",
)
folder_of_settings_ignored = held_out.wrap(
    "services.compose:with_plans",
    instead(lambda _, workspace, *_args: workspace),
    says="Plans do not go to the folder that the settings name.",
    origin="a setting that only one surface passes on",
)
