"""`exit_plan_mode`: the model presents its plan; an approved plan ends plan mode.

Source: core `tools/exit-plan-mode.ts`, `utils/planUtils.ts`.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from services.exhaustion import notice
from services.mode_words import plan_mode_exit
from services.paths import InvalidPath, real_path
from services.regular_files import open_regular
from services.state import ApprovalMode
from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.file_access import DeniedPath, denied_plan, plan_path
from services.tools.parameters import arguments, string
from services.tools.paths import exists
from services.wire import JsonObject, js_trim

__all__ = ["ExitPlanModeTool"]

_AFTER_PLANNING: Final = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO)
_BYTE_ORDER_MARKS: Final = (
    b"\xff\xfe\0\0",
    b"\0\0\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
)
_SAMPLE: Final = 1024
"""How many bytes of a plan are read to see whether it has any text."""


class ExitPlanModeTool(DeclarativeTool):
    """Asks the user to approve a plan."""

    name = "exit_plan_mode"
    display_name = "Exit Plan Mode"
    kind = ToolKind.PLAN
    description = (
        "Present the finished plan to the user for approval. Agree with the user on the approach "
        "before you call this. Only an approved plan ends plan mode, and source code can be "
        "edited only after that."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["plan_filename"],
        plan_filename=string(
            "The name of the plan's file in the folder for plans, for example `feature-x.md`. "
            "No absolute path."
        ),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check that the name is a path among the plans."""
        name: str = params["plan_filename"]
        if not js_trim(name):
            return "plan_filename is required."
        try:
            plan_path(self.host, name)
        except (DeniedPath, InvalidPath, OSError) as error:
            notice(error)
            return str(error)
        return None


@ExitPlanModeTool.builds
class ExitPlanModeInvocation(BuiltinInvocation):
    """One plan; without a question to the user it counts as approved."""

    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._name: str = params["plan_filename"]
        self._fault: str | None = None
        self._outcome: ConfirmationOutcome | None = None
        self._answer: Mapping[str, Any] | None = None

    def description(self) -> str:
        """The plan's path, as its name joined to the folder for plans."""
        return f"Requesting plan approval for: {_joined(self.host.plans, self._name)}"

    def needs_decision(self) -> bool:
        """Whether there is a plan that the user can decide about."""
        self._fault = self._plan_fault()
        return self._fault is None

    def confirmation_details(self) -> ConfirmationDetails | None:
        """The plan's path, for a dialog that shows the plan."""
        plan = plan_path(self.host, self._name)
        return ConfirmationDetails(
            type="exit_plan_mode", title="Plan Approval", fields={"planPath": str(plan)}
        )

    def answered(self, outcome: ConfirmationOutcome, payload: Mapping[str, Any] | None) -> None:
        """Take the answer: `approved`, and `approvalMode` or `feedback`."""
        self._outcome = outcome
        if payload is not None and "approved" in payload:
            self._answer = payload

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Report the user's decision; an approval changes the mode.

        Raises:
            ValueError: the answer names a mode that does not end plan mode.
            PrivilegedModeRefused: the folder is not trusted, and the mode asks less than usual.
        """
        plan = plan_path(self.host, self._name)
        if self._fault is not None:
            return ToolResult(llm_content=self._fault, return_display="Error: Invalid plan")
        if self._outcome is ConfirmationOutcome.CANCEL:
            return ToolResult(
                llm_content="User cancelled the plan approval dialog. The plan was not approved "
                "and you are still in Plan Mode.",
                return_display="Cancelled",
            )
        if self._answer is None:
            return self._approved(plan, self._unasked_mode())
        if self._answer["approved"]:
            return self._approved(plan, _chosen_mode(self._answer.get("approvalMode")))
        return _rejected(plan, self._answer.get("feedback"))

    def _plan_fault(self) -> str | None:
        """The fault of the plan file for the model, if there is one."""
        try:
            plan = plan_path(self.host, self._name)
        except (DeniedPath, InvalidPath, OSError) as error:
            notice(error)
            return denied_plan(self._name, real_path(self.host.plans))
        if not exists(plan):
            return (
                f"Plan file does not exist: {self._name}. You must create the plan file before "
                "requesting approval."
            )
        if _is_empty(plan):
            return (
                "Plan file is empty. You must write content to the plan file before requesting "
                "approval."
            )
        return None

    def _unasked_mode(self) -> ApprovalMode:
        """The mode after an approval by policy: with a user, edits are asked about."""
        return ApprovalMode.DEFAULT if self.host.state.interactive else ApprovalMode.YOLO

    def _approved(self, plan: Path, mode: ApprovalMode) -> ToolResult:
        state = self.host.state
        state.set_approval_mode(mode)
        state.approved_plan = plan
        state.log(
            "plan.execution",
            f"Plan executed with approval mode: {mode}",
            {"approval_mode": str(mode)},
        )
        return ToolResult(
            llm_content=f"{plan_mode_exit(mode)}\n\n"
            f"The approved implementation plan is stored at: {plan}\n"
            "Read and follow the plan strictly during implementation.",
            return_display=f"Plan approved: {plan}",
        )


def _rejected(plan: Path, feedback: object) -> ToolResult:
    said = js_trim(feedback) if isinstance(feedback, str) else ""
    if said:
        return ToolResult(
            llm_content=f"Plan rejected. User feedback: {said}\n\n"
            f"The plan is stored at: {plan}\nRevise the plan based on the feedback.",
            return_display=f"Feedback: {said}",
        )
    return ToolResult(
        llm_content="Plan rejected. No feedback provided.\n\n"
        f"The plan is stored at: {plan}\n"
        "Ask the user for specific feedback on how to improve the plan.",
        return_display="Rejected (no feedback)",
    )


def _chosen_mode(chosen: object) -> ApprovalMode:
    if chosen is None:
        return ApprovalMode.DEFAULT
    for mode in _AFTER_PLANNING:
        if chosen == mode:
            return mode
    raise ValueError(f"Unexpected approval mode: {chosen}")


def _joined(folder: Path, name: str) -> str:
    """`name` under `folder` as Node's `path.join` has it: normalised, its last `/` kept."""
    joined = os.path.normpath(f"{folder}/{name}")
    return f"{joined}/" if name.endswith("/") else joined


def _is_empty(plan: Path) -> bool:
    """Whether the file has nothing but white space; a file that cannot be read counts as empty."""
    try:
        with open_regular(plan) as file:
            sample = file.read(_SAMPLE)
    except OSError as error:
        notice(error, plan)
        return True
    for mark in _BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            sample = sample.removeprefix(mark)
            break
    return not js_trim(sample.decode(errors="replace"))
