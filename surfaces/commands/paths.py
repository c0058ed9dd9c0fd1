"""Paths that a user writes after a command."""

from __future__ import annotations

import os.path
from pathlib import Path

from surfaces.commands.contract import CommandContext

__all__ = ["user_path"]


def user_path(context: CommandContext, text: str) -> Path:
    """The path that `text` names: from the workspace, with `~` for the session's home."""
    workspace = context.services.workspace
    if text == "~" or text.startswith("~/"):
        text = f"{workspace.home}{text[1:]}"
    return Path(os.path.normpath(workspace.root / text))
