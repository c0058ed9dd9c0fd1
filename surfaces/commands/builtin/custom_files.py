"""`/commands`: the command files. Source: `packages/cli` `ui/commands/commandsCommand.ts`."""

from __future__ import annotations

from typing import Final

from surfaces.commands.contract import CommandContext, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result
from surfaces.commands.sources.places import command_files, command_places

__all__ = ["COMMANDS"]

_NOTE: Final = "\n_Note: MCP prompts are dynamically loaded from configured MCP servers._"


async def _usage(context: CommandContext) -> Result:
    text = (
        'Use "/commands list" to view available .toml files, or "/commands reload" to reload '
        "custom command definitions."
    )
    return Item(kind=ItemKind.INFO, text=text)


async def _list(context: CommandContext) -> None:
    lines: list[str] = []
    for place in command_places(context.session):
        files = sorted(command_files(place.folder))
        if files:
            lines.append(f"### {place.title} Commands ({place.folder})")
            lines += [f"- {file.relative_to(place.folder)}" for file in files]
    head = "\n".join(lines) or "No custom command files (.toml) found."
    context.info(f"{head}\n{_NOTE}", markdown=True)


async def _reload(context: CommandContext) -> Result:
    if context.reload is not None:
        await context.reload()
    return Item(kind=ItemKind.INFO, text="Custom commands reloaded successfully.")


COMMANDS: Final = SlashCommand(
    name="commands",
    description="Manage custom slash commands. Usage: /commands [list|reload]",
    action=_usage,
    subcommands=(
        SlashCommand(
            name="list",
            description="List available custom command .toml files. Usage: /commands list",
            runs_at_once=True,
            action=_list,
        ),
        SlashCommand(
            name="reload",
            aliases=("refresh",),
            description=(
                "Reload custom command definitions from .toml files. Usage: /commands reload"
            ),
            runs_at_once=True,
            action=_reload,
        ),
    ),
)
