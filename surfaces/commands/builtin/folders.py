"""`/directory`: the folders of the workspace. Source: `ui/commands/directoryCommand.tsx`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.paths import user_path
from surfaces.commands.results import ConfirmAction, Result

__all__ = ["DIRECTORY"]


async def _show(context: CommandContext) -> None:
    listed = "\n".join(f"- {folder}" for folder in context.services.workspace.folders)
    context.info(f"Current workspace directories:\n{listed}")


async def _add(context: CommandContext) -> Result:
    named = [name.strip() for name in context.args.split(",") if name.strip()]
    if not named:
        raise CommandError("Please provide at least one path to add.")
    workspace = context.services.workspace
    places = {name: user_path(context, name) for name in named}
    known = [name for name in named if _resolved(places[name]) in workspace.folders]
    if known:
        listed = "\n- ".join(known)
        context.info(f"The following directories are already in the workspace:\n- {listed}")
    fresh = {name: place for name, place in places.items() if name not in known}
    usable = [name for name, place in fresh.items() if place.is_dir()]
    if usable and context.services.settings.folder_trust and not context.confirmed:
        listed = "\n- ".join(usable)
        return ConfirmAction(prompt=f"Do you trust the following folders?\n- {listed}")
    for name in usable:
        workspace.add_folder(fresh[name])
    if usable:
        listed = "\n- ".join(usable)
        context.info(f"Successfully added directories:\n- {listed}")
    problems = [_problem(name, place) for name, place in fresh.items() if name not in usable]
    if problems:
        raise CommandError("\n".join(problems))
    return None


def _resolved(place: Path) -> Path:
    try:
        return place.resolve()
    except (OSError, RuntimeError):
        return place


def _problem(name: str, place: Path) -> str:
    what = "is not a directory" if place.exists() else "does not exist"
    return f"Error adding '{name}': {place} {what}."


DIRECTORY: Final = SlashCommand(
    name="directory",
    aliases=("dir",),
    description="Manage workspace directories",
    subcommands=(
        SlashCommand(
            name="add",
            description=("Add directories to the workspace. Use comma to separate multiple paths"),
            arguments=(Argument(name="paths", description="Paths between commas", required=True),),
            action=_add,
        ),
        SlashCommand(
            name="show",
            description="Show all directories in the workspace",
            action=_show,
        ),
    ),
)
