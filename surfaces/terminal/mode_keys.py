"""The keys that change the approval mode."""

from __future__ import annotations

from typing import Final

from services.bundle import Services
from services.state import ApprovalMode
from surfaces.terminal.drawing import Drawing, Typed
from surfaces.terminal.turns import Turns

__all__ = ["next_mode", "toggle_yolo"]

_NEXT: Final = {
    ApprovalMode.DEFAULT: ApprovalMode.AUTO_EDIT,
    ApprovalMode.AUTO_EDIT: ApprovalMode.PLAN,
    ApprovalMode.PLAN: ApprovalMode.DEFAULT,
    ApprovalMode.YOLO: ApprovalMode.AUTO_EDIT,
}
_NO_YOLO: Final = "YOLO mode is disabled by the settings file's security.disableYoloMode."


async def next_mode(services: Services, turns: Turns) -> None:
    """Shift+Tab: the next approval mode."""
    await turns.set_mode(_NEXT[services.state.approval_mode])


async def toggle_yolo(services: Services, turns: Turns, drawing: Drawing) -> None:
    """Ctrl+Y: YOLO mode on or off."""
    yolo = services.state.approval_mode is ApprovalMode.YOLO
    if not yolo and services.settings.disable_yolo_mode:
        drawing.add(Typed(text=_NO_YOLO, mark="warning"))
        return
    await turns.set_mode(ApprovalMode.DEFAULT if yolo else ApprovalMode.YOLO)
