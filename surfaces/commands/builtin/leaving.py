"""`/quit`. Source: `packages/cli` `ui/commands/quitCommand.ts`."""

from __future__ import annotations

from typing import Final

from surfaces.commands.contract import CommandContext, SlashCommand
from surfaces.commands.durations import readable_duration
from surfaces.commands.results import Item, ItemKind, Quit

__all__ = ["QUIT"]


async def _quit(context: CommandContext) -> Quit:
    took = context.services.clock.now_ms() - context.session.started_ms
    said = (
        Item(kind=ItemKind.USER, text="/quit"),
        Item(
            kind=ItemKind.PANEL, text=f"Agent powering down. Goodbye!\n\n{readable_duration(took)}"
        ),
    )
    return Quit(items=said, delete=context.args == "--delete")


QUIT: Final = SlashCommand(
    name="quit",
    aliases=("exit",),
    description="Exit the cli",
    runs_at_once=True,
    action=_quit,
)
