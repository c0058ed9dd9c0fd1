"""`/directory`: the folders of the workspace.

Source: `packages/cli` `ui/commands/directoryCommand.tsx`,
`ui/components/MultiFolderTrustDialog.tsx`, `ui/utils/directoryUtils.ts`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Final

from runtimes.contract import NotesFolders
from services.folder_trust import TrustedFolders
from services.interaction.questions import TrustChoice
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.paths import user_path
from surfaces.commands.results import Dialog, OpenDialog, Result

__all__ = ["DIRECTORY", "FolderTrust", "NewFolders"]

_MOST_OFFERED: Final = 50


class FolderTrust(Enum):
    """The answers to the question whether folders are trusted."""

    YES = auto()
    REMEMBER = auto()
    NO = auto()
    CANCEL = auto()


@dataclass(slots=True, kw_only=True)
class NewFolders:
    """The folders of one `/directory add`, for the surface that asks about their trust."""

    context: CommandContext
    asked: Sequence[str]
    """The folders whose trust is asked about, as the user wrote them."""
    added: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def answer(self, trust: FolderTrust) -> None:
        """Add the folders, or leave them out.

        Raises:
            CommandError: a folder was not added; the message says why.
        """
        listed = "\n- ".join(self.asked)
        match trust:
            case FolderTrust.CANCEL:
                self.errors.append(
                    f"Operation cancelled. The following directories were not added:\n- {listed}"
                )
            case FolderTrust.NO:
                self.errors.append(
                    "The following directories were not added because they were not trusted:\n"
                    f"- {listed}"
                )
            case _:
                for name in self.asked:
                    self._add(name, remember=trust is FolderTrust.REMEMBER)
        await self.finish()

    def add(self, names: Sequence[str]) -> None:
        """Add folders that need no question."""
        for name in names:
            self._add(name, remember=False)

    def _add(self, name: str, *, remember: bool) -> None:
        place = user_path(self.context, name)
        if not place.is_dir():
            what = "is not a directory" if place.exists() else "does not exist"
            self.errors.append(f"Error adding '{name}': {place} {what}.")
            return
        workspace = self.context.services.workspace
        if remember:
            TrustedFolders(workspace.home).remember(place, TrustChoice.TRUST_FOLDER)
        workspace.add_folder(place)
        self.added.append(name)

    async def finish(self) -> None:
        """Show what was added, and let the model know of it.

        Raises:
            CommandError: a folder was not added; the message says why.
        """
        if self.added:
            listed = "\n- ".join(self.added)
            self.context.services.memory.reload()
            self.context.info(
                "Successfully added GEMINI.md files from the following directories if there are:\n"
                f"- {listed}"
            )
            runtime = self.context.runtime
            if isinstance(runtime, NotesFolders):
                await runtime.note_folders()
            self.context.info(f"Successfully added directories:\n- {listed}")
        if self.errors:
            raise CommandError("\n".join(self.errors))


async def _show(context: CommandContext) -> None:
    listed = "\n".join(f"- {folder}" for folder in context.services.workspace.folders)
    context.info(f"Current workspace directories:\n{listed}")


async def _add(context: CommandContext) -> Result:
    """The dialog's details: `folders`, a `NewFolders`."""
    named = [name.strip() for name in context.args.split(",") if name.strip()]
    if not named:
        raise CommandError("Please provide at least one path to add.")
    workspace = context.services.workspace
    known = [name for name in named if _resolved(user_path(context, name)) in workspace.folders]
    if known:
        listed = "\n- ".join(known)
        context.info(f"The following directories are already in the workspace:\n- {listed}")
    fresh = [name for name in named if name not in known]
    if not fresh:
        return None
    asked = _untrusted(context, fresh)
    folders = NewFolders(context=context, asked=asked)
    folders.add([name for name in fresh if name not in asked])
    if not asked:
        await folders.finish()
        return None
    if Dialog.FOLDER_TRUST in context.session.dialogs:
        return OpenDialog(dialog=Dialog.FOLDER_TRUST, details={"folders": folders})
    await folders.answer(FolderTrust.NO)
    return None


def _untrusted(context: CommandContext, names: Sequence[str]) -> list[str]:
    """The folders that the user has not said to trust, where the settings have folder trust."""
    if not context.services.settings.folder_trust:
        return []
    trusted = TrustedFolders(context.services.workspace.home)
    try:
        trusted.load()
    except ValueError as error:
        raise CommandError(str(error)) from error
    places = {name: user_path(context, name) for name in names}
    return [
        name
        for name, place in places.items()
        if place.is_dir() and trusted.trusts(place) is not True
    ]


def _resolved(place: Path) -> Path:
    try:
        return place.resolve()
    except (OSError, RuntimeError):
        return place


async def _complete(context: CommandContext, typed: str) -> Sequence[str]:
    """The folders that begin with the last of the paths, except those of the workspace."""
    before, comma, last = typed.rpartition(",")
    blanks = last[: len(last) - len(last.lstrip())]
    begun = last.strip()
    if not begun:
        return []
    place = user_path(context, begun)
    parent, start = (place, "") if begun.endswith("/") else (place.parent, place.name)
    shown = begun[: len(begun) - len(start)] if start else begun
    known = context.services.workspace.folders
    with os.scandir(parent) as entries:
        names = sorted(
            entry.name
            for entry in entries
            if entry.name.startswith(start)
            and (start.startswith(".") or not entry.name.startswith("."))
            and entry.is_dir()
            and _resolved(Path(entry.path)) not in known
        )
    return [f"{before}{comma}{blanks}{shown}{name}/" for name in names[:_MOST_OFFERED]]


DIRECTORY: Final = SlashCommand(
    name="directory",
    aliases=("dir",),
    description="Manage workspace directories",
    subcommands=(
        SlashCommand(
            name="add",
            description="Add directories to the workspace. Use comma to separate multiple paths",
            arguments=(Argument(name="paths", description="Paths between commas", required=True),),
            action=_add,
            complete=_complete,
        ),
        SlashCommand(
            name="show",
            description="Show all directories in the workspace",
            action=_show,
        ),
    ),
)
