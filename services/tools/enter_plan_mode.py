"""`enter_plan_mode`: the model begins to plan; until the plan is approved it may only read.

Source: core `tools/enter-plan-mode.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from services.exhaustion import notice
from services.state import ApprovalMode
from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.parameters import arguments, string
from services.wire import JsonObject

__all__ = ["EnterPlanModeTool"]

logger = logging.getLogger(__name__)


class EnterPlanModeTool(DeclarativeTool):
    """Switches the session to plan mode."""

    name = "enter_plan_mode"
    display_name = "Enter Plan Mode"
    kind = ToolKind.PLAN
    description = (
        "Switch to plan mode: explore with read-only tools and write a plan before you change "
        "anything. Use it for large, risky or ambiguous tasks, and for decisions about the "
        "architecture. Do not use it for questions and small changes."
    )
    parameters: ClassVar[JsonObject] = arguments(
        [], reason=string("One short sentence: why a plan comes first.")
    )


@EnterPlanModeTool.builds
class EnterPlanModeInvocation(BuiltinInvocation):
    """One call; the policy decides whether the user is asked."""

    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._outcome: ConfirmationOutcome | None = None

    def description(self) -> str:
        """The model's reason."""
        return self.params.get("reason") or "Initiating Plan Mode"

    def needs_decision(self) -> bool:
        """Every call does."""
        return True

    def confirmation_details(self) -> ConfirmationDetails | None:
        """What plan mode means for the user."""
        return ConfirmationDetails(
            type="info",
            title="Enter Plan Mode",
            fields={
                "prompt": "This will restrict the agent to read-only tools to allow for safe "
                "planning."
            },
        )

    def answered(self, outcome: ConfirmationOutcome, payload: Mapping[str, Any] | None) -> None:
        """Take the user's answer."""
        self._outcome = outcome

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Switch the mode, and make the folder for plans."""
        if self._outcome is ConfirmationOutcome.CANCEL:
            return ToolResult(
                llm_content="User cancelled entering Plan Mode.", return_display="Cancelled"
            )
        self.host.state.set_approval_mode(ApprovalMode.PLAN)
        plans = self.host.plans
        try:
            plans.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            notice(error, plans)
            # `write_file` makes the folder too, and then the model gets the error.
            logger.warning("cannot create the folder for plans %s: %s", plans, error)
        reason: str | None = self.params.get("reason")
        return ToolResult(
            llm_content="Switching to Plan mode.",
            return_display=f"Switching to Plan mode: {reason}"
            if reason
            else "Switching to Plan mode",
        )
