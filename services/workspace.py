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

    def contains(self, path: Path) -> bool:
        """Whether tools may touch `path` (links resolved): in the workspace or the project temp."""
        target = path.resolve()
        return any(
            target == folder or folder in target.parents
            for folder in (self.root, self.project_temp.resolve())
        )

    def resolve(self, path: str) -> Path:
        """`path` as tools understand it: absolute, or relative to the workspace. Not checked."""
        return (self.root / path) if not Path(path).is_absolute() else Path(path)
