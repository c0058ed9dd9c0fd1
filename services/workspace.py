"""Where a session works: its folder, its home, its temporary directory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Workspace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The folders of one session. Paths are absolute and resolved."""

    root: Path
    home: Path

    @classmethod
    def at(cls, root: Path, home: Path) -> Workspace:
        """Resolve both folders; neither needs to exist yet."""
        return cls(root=root.resolve(), home=home.resolve())

    @property
    def project_temp(self) -> Path:
        """`<home>/.gemini/tmp/<name of the workspace folder>`. Source: core `config/storage.ts`."""
        return self.home / ".gemini" / "tmp" / self.root.name

    @property
    def project_hash(self) -> str:
        """SHA-256 of the workspace path, as chat recordings carry it."""
        return hashlib.sha256(str(self.root).encode()).hexdigest()
