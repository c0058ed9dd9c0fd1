"""`/docs`: where this product's documentation is. Ours opens no page of the vendor."""

from __future__ import annotations

from typing import Final

from services.tools.internal_docs import nearest_docs
from surfaces.commands.contract import CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["DOCS"]


async def _docs(context: CommandContext) -> Result:
    folder = nearest_docs()
    if folder is None:
        raise CommandError("The documentation is not installed.")
    pages = sorted(page.name for page in folder.glob("*.md"))
    listed = "\n".join(f"  - {name}" for name in pages)
    return Item(kind=ItemKind.INFO, text=f"The documentation is in {folder}:\n{listed}")


DOCS: Final = SlashCommand(
    name="docs",
    description="Show where the documentation of parity is",
    runs_at_once=True,
    action=_docs,
)
