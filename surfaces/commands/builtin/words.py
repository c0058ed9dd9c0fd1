"""Lines that several listings share."""

from __future__ import annotations

from collections.abc import Sequence

from surfaces.commands.contract import SlashCommand
from surfaces.commands.results import Item, ItemKind

__all__ = ["indented", "needs_subcommand"]


def indented(text: str, by: str = "    ") -> list[str]:
    """The lines of `text`, each behind `by`."""
    return [f"{by}{line}".rstrip() for line in text.splitlines()]


def needs_subcommand(name: str, subcommands: Sequence[SlashCommand]) -> Item:
    """The subcommands, for a user who has written none."""
    lines = [f"  - {each.name}: {each.description}" for each in subcommands]
    head = f"Command '/{name}' requires a subcommand. Available:"
    return Item(kind=ItemKind.INFO, text="\n".join([head, *lines]))
