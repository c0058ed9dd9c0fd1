"""The folders with command files: the user's, the workspace's, and those of extensions.

Source: `packages/cli` `services/FileCommandLoader.ts` (`getCommandDirectories`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from surfaces.commands.contract import CommandKind, CommandSession

__all__ = ["CommandPlace", "command_files", "command_places"]

_MOST_FILES: Final = 2000
"""The most command files of a folder; upstream has no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlace:
    """A folder with command files, which may not exist."""

    folder: Path
    kind: CommandKind
    extension: str | None = None

    @property
    def title(self) -> str:
        """Its name for the user."""
        match self.kind:
            case CommandKind.USER_FILE:
                return "User"
            case CommandKind.WORKSPACE_FILE:
                return "Project"
            case _:
                return f"Extension: {self.extension}"


def command_places(session: CommandSession) -> Sequence[CommandPlace]:
    """The folders in order of precedence. An untrusted workspace has none of its own."""
    services = session.services
    workspace = services.workspace
    places = [
        CommandPlace(folder=workspace.home / ".gemini" / "commands", kind=CommandKind.USER_FILE)
    ]
    if not services.settings.folder_trusted:
        return places
    if workspace.root != workspace.home:
        folder = workspace.root / ".gemini" / "commands"
        places.append(CommandPlace(folder=folder, kind=CommandKind.WORKSPACE_FILE))
    places += [
        CommandPlace(folder=folder / "commands", kind=CommandKind.EXTENSION_FILE, extension=name)
        for name, folder in sorted(
            (each.name, each.folder) for each in services.extensions.store.active
        )
    ]
    return places


def command_files(folder: Path) -> Iterator[Path]:
    """The `.toml` files below `folder`, links followed; a folder that links reach again is skipped.

    A folder that cannot be read has none.
    """
    seen: set[tuple[int, int]] = set()
    found = 0
    for place, folders, files in os.walk(folder, followlinks=True):
        status = os.stat(place)  # noqa: PTH116 - `os.walk` gives texts
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders.sort()
        for name in sorted(files):
            if name.endswith(".toml") and found < _MOST_FILES:
                found += 1
                yield Path(place) / name
