"""The modes and models that a client can choose from.

Source: `packages/cli` `acp/acpUtils.ts` (`buildAvailableModes`, `buildAvailableModels`); core
`config/models.ts` (`getDisplayString`, `getAutoModelDescription`).
"""

from __future__ import annotations

from typing import Final

from services.bundle import Services
from services.model.names import (
    ALIAS_AUTO,
    DEFAULT_PRO,
    LATEST_FLASH,
    PREVIEW_3_1_CUSTOM_TOOLS,
    PREVIEW_3_1_PRO,
    PREVIEW_FLASH,
    PREVIEW_PRO,
    AccessFlags,
)
from services.state import ApprovalMode
from services.wire import JsonObject

__all__ = ["choices", "mode_called"]

_MODES: Final = (
    (ApprovalMode.DEFAULT, "Default", "Asks before each change"),
    (ApprovalMode.AUTO_EDIT, "Auto Edit", "Allows edits without a question"),
    (ApprovalMode.YOLO, "YOLO", "Allows every tool call without a question"),
    (ApprovalMode.PLAN, "Plan", "Reads, and writes plans only"),
)


def choices(services: Services) -> JsonObject:
    """The members `modes` and `models` of the answers to `session/new` and `session/load`."""
    state = services.state
    return {
        "modes": {
            "availableModes": [
                {"id": mode.value, "name": name, "description": description}
                for mode, name, description in _MODES
                if _available(mode, services)
            ],
            "currentModeId": state.approval_mode.value,
        },
        "models": {
            "availableModels": _models(services.models.access),
            "currentModelId": state.model or ALIAS_AUTO,
        },
    }


def mode_called(name: str, services: Services) -> ApprovalMode | None:
    """The mode with this id; `None` if there is none, or the settings switch it off."""
    for mode, _, _ in _MODES:
        if mode.value == name and _available(mode, services):
            return mode
    return None


def _available(mode: ApprovalMode, services: Services) -> bool:
    return mode is not ApprovalMode.PLAN or services.settings.plan_enabled


def _models(access: AccessFlags) -> list[JsonObject]:
    pro = PREVIEW_3_1_PRO if access.gemini31_launched else PREVIEW_PRO
    custom = access.custom_tools and access.gemini31_launched
    previews = [(PREVIEW_3_1_CUSTOM_TOOLS if custom else pro, pro), (PREVIEW_FLASH, PREVIEW_FLASH)]
    plain = [DEFAULT_PRO, access.default_flash, access.default_flash_lite]
    flash = LATEST_FLASH if access.latest_flash else PREVIEW_FLASH
    best = (pro, flash) if access.preview else (DEFAULT_PRO, access.default_flash)
    auto = {
        "modelId": ALIAS_AUTO,
        "name": "Auto",
        "description": f"Chooses the model for each task: {best[0]} or {best[1]}",
    }
    offered = [*(previews if access.preview else []), *((name, name) for name in plain)]
    return [auto, *({"modelId": model, "name": shown} for model, shown in offered)]
