"""The folder for the plans of plan mode.

Source: core `config/storage.ts` (`getPlansDir`), `config/config.ts` (`_initialize`).
"""

from __future__ import annotations

import os.path
from dataclasses import replace
from pathlib import Path

from services.exhaustion import notice
from services.paths import InvalidPath, real_path
from services.settings import Settings
from services.state import CoreEvents, UserFeedback
from services.workspace import Workspace

__all__ = ["with_plans"]


class _OutsideWorkspace(ValueError):
    """The folder for plans is not in the workspace."""


def with_plans(
    workspace: Workspace, session_id: str, settings: Settings, events: CoreEvents
) -> Workspace:
    """The workspace with the folder for plans that the settings name.

    A folder outside of the workspace is reported to the user, and the default takes its place.
    Plans of an earlier run of the session are files of the workspace.

    Args:
        workspace: the session's folders.
        session_id: the session's id.
        settings: name the folder, and whether there is plan mode.
        events: receives a report to the user.
    """
    if not settings.plan_enabled:
        return workspace
    if settings.plan_directory:
        try:
            folder = _inside(workspace.root, settings.plan_directory)
        except (_OutsideWorkspace, InvalidPath, OSError) as problem:
            notice(problem)
            message = (
                f"Invalid custom plans directory: {problem}. "
                "Falling back to default project temp directory."
            )
            events.emit(UserFeedback(severity="warning", message=message))
        else:
            workspace = replace(workspace, plans_folder=folder)
    plans = workspace.plans(session_id)
    if plans.is_dir():
        workspace.add_folder(plans)
    return workspace


def _inside(root: Path, name: str) -> Path:
    folder = Path(os.path.normpath(root / name))
    real, real_root = real_path(folder), real_path(root)
    if real != real_root and real_root not in real.parents:
        raise _OutsideWorkspace(
            f"Custom plans directory '{name}' resolves to '{real}', which is outside the project "
            f"root '{real_root}'."
        )
    return folder
