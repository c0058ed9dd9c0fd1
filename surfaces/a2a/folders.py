"""Where a task may work.

Source: `packages/a2a-server` `config/config.ts` (`setTargetDir`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from services.wire import JsonObject

__all__ = ["FolderRefused", "Folders"]


class FolderRefused(Exception):
    """A task may not work in the folder that it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders of a server."""

    fixed: Path | None
    """The folder of every task, whatever a message asks for."""
    default: Path
    """The folder of a task that asks for none."""
    allowed: tuple[Path, ...]
    """Every task works in one of these folders, or below."""

    @classmethod
    def of(cls, variables: Mapping[str, str], here: Path, home: Path) -> Folders:
        """As `CODER_AGENT_WORKSPACE_PATH` and `CODER_AGENT_ALLOWED_ROOT` say.

        The latter may name several folders, with the system's separator between paths.
        """
        fixed = variables.get("CODER_AGENT_WORKSPACE_PATH")
        allowed = (variables.get("CODER_AGENT_ALLOWED_ROOT") or "").split(os.pathsep)
        return cls(
            fixed=Path(fixed) if fixed else None,
            default=here,
            allowed=tuple(Path(each).resolve() for each in allowed if each) or (home.resolve(),),
        )

    def chosen(self, settings: JsonObject) -> Path:
        """The folder for a task with these `agent-settings`.

        Raises:
            FolderRefused: it is missing, or lies elsewhere.
        """
        asked = settings.get("workspacePath")
        folder = self.fixed or (Path(asked) if isinstance(asked, str) and asked else self.default)
        resolved = (self.default / folder).resolve()
        if not resolved.is_dir():
            raise FolderRefused(f"Workspace path {folder} does not exist")
        if not any(resolved.is_relative_to(each) for each in self.allowed):
            raise FolderRefused(
                f"Workspace path {folder} lies outside {', '.join(map(str, self.allowed))}; set "
                "CODER_AGENT_ALLOWED_ROOT to a folder that holds it"
            )
        return resolved
