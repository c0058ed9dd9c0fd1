"""Where a task may work.

Source: `packages/a2a-server` `config/config.ts` (`setTargetDir`).
"""

from __future__ import annotations

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
    allowed: Path
    """Every task works in this folder, or below."""

    @classmethod
    def of(cls, variables: Mapping[str, str], here: Path, home: Path) -> Folders:
        """As `CODER_AGENT_WORKSPACE_PATH` and `CODER_AGENT_ALLOWED_ROOT` say."""
        fixed = variables.get("CODER_AGENT_WORKSPACE_PATH")
        allowed = variables.get("CODER_AGENT_ALLOWED_ROOT")
        return cls(
            fixed=Path(fixed) if fixed else None,
            default=here,
            allowed=(Path(allowed) if allowed else home).resolve(),
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
        if not resolved.is_relative_to(self.allowed):
            raise FolderRefused(
                f"Workspace path {folder} lies outside {self.allowed}; set "
                "CODER_AGENT_ALLOWED_ROOT to a folder that holds both"
            )
        return resolved
