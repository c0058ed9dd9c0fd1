"""Where a session works: its folder, its home, its temporary directory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Workspace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The folders of one session. Paths are absolute and resolved."""

    root: Path
    home: Path
    added: list[Path] = field(default_factory=list, compare=False)
    """Folders that tools may use as well since something in the session needed them."""

    plans_folder: Path | None = None
    """The folder for plans that the user's settings name; see `plans`."""

    @classmethod
    def at(cls, root: Path, home: Path) -> Workspace:
        """Resolve both folders; neither needs to exist yet."""
        return cls(root=root.resolve(), home=home.resolve())

    @property
    def folders(self) -> tuple[Path, ...]:
        """All folders that tools work in, the workspace's own first."""
        return (self.root, *self.added)

    def add_folder(self, folder: Path) -> None:
        """Let tools use `folder` from now on."""
        resolved = folder.resolve()
        if resolved not in self.folders:
            self.added.append(resolved)

    @property
    def project_temp(self) -> Path:
        """`<home>/.gemini/tmp/<name of the workspace folder>`. Source: core `config/storage.ts`."""
        return self.home / ".gemini" / "tmp" / self.root.name

    @property
    def history(self) -> Path:
        """`<home>/.gemini/history/<name of the workspace folder>`: snapshots of the workspace.

        Source: core `config/storage.ts`, `getHistoryDir`.
        """
        return self.home / ".gemini" / "history" / self.root.name

    @property
    def checkpoints(self) -> Path:
        """The checkpoints for `/restore`. Source: core `config/storage.ts`."""
        return self.project_temp / "checkpoints"

    def plans(self, session_id: str) -> Path:
        """Where plan mode of the session that began as `session_id` may write.

        The folder may not exist yet.

        Source: core `config/storage.ts`, `getPlansDir`; `config/config.ts`, `rotateSessionId`.
        """
        return self.plans_folder or self.project_temp / session_id / "plans"

    def tasks(self, session_id: str) -> Path:
        """Where the task tracker of the session that began as `session_id` has its files.

        Source: core `config/storage.ts`, `getProjectTempTrackerDir`.
        """
        return self.project_temp / session_id / "tracker"

    @property
    def project_hash(self) -> str:
        """SHA-256 of the workspace path, as chat recordings carry it."""
        return hashlib.sha256(str(self.root).encode()).hexdigest()
