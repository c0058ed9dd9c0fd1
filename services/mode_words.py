"""Approval modes in words. Source: core `utils/approvalModeUtils.ts`."""

from __future__ import annotations

from typing import Final

from services.state import ApprovalMode

__all__ = ["plan_mode_exit"]

_DESCRIPTIONS: Final = {
    ApprovalMode.AUTO_EDIT: "Auto-Edit mode (edits will be applied automatically)",
    ApprovalMode.DEFAULT: "Default mode (edits will require confirmation)",
    ApprovalMode.PLAN: "Plan mode (read-only planning)",
    ApprovalMode.YOLO: "YOLO mode (all tool calls auto-approved)",
}


def plan_mode_exit(mode: ApprovalMode, *, manual: bool = False) -> str:
    """The sentence for the model when plan mode ends and `mode` begins.

    Args:
        mode: the mode that begins.
        manual: the user ended plan mode, without the approval of a plan.
    """
    why = "User has manually exited Plan Mode." if manual else "Plan approved."
    return f"{why} Switching to {_DESCRIPTIONS[mode]}."
