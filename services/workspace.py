"""Where a session works: its folder, its home, its temporary directory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.scoping import Scoped

__all__ = ["SCOPED_WORKSPACE", "Workspace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The folders of one session. Paths are absolute and resolved."""

    root: Path
    home: Path
    added: list[Path] = field(default_factory=list, compare=False)
    """Folders that tools may use as well since something in the session needed them."""

    @classmethod
    def at(cls, root: Path, home: Path) -> Workspace:
        """Resolve both folders; neither needs to exist yet."""
        return cls(root=root.resolve(), home=home.resolve())

    @property
    def folders(self) -> tuple[Path, ...]:
        """All folders that tools work in, the workspace's own first; what runs may have more."""
        return (self.root, *self._here.added)

    def add_folder(self, folder: Path) -> None:
        """Let tools use `folder` from now on; inside of a scope, as long as that lasts."""
        here, resolved = self._here, folder.resolve()
        if resolved not in (self.root, *here.added):
            here.added.append(resolved)

    @property
    def _here(self) -> Workspace:
        scoped = SCOPED_WORKSPACE.value
        return self if scoped is None or scoped != self else scoped

    @property
    def project_temp(self) -> Path:
        """`<home>/.gemini/tmp/<name of the workspace folder>`. Source: core `config/storage.ts`."""
        return self.home / ".gemini" / "tmp" / self.root.name

    @property
    def project_hash(self) -> str:
        """SHA-256 of the workspace path, as chat recordings carry it."""
        return hashlib.sha256(str(self.root).encode()).hexdigest()


SCOPED_WORKSPACE: Final[Scoped[Workspace | None]] = Scoped("scoped_workspace", None)
"""The same place with folders that only this scope may use."""
