"""The built-in commands: one module a family.

Source: `packages/cli` `services/BuiltinCommandLoader.ts`, for the commands and their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from surfaces.commands.builtin.leaving import QUIT
from surfaces.commands.builtin.overview import ABOUT, HELP
from surfaces.commands.builtin.unbuilt import not_built
from surfaces.commands.contract import CommandSession, SlashCommand

__all__ = ["builtin_commands", "not_built"]


def builtin_commands(session: CommandSession) -> Sequence[SlashCommand]:
    """The built-in commands that the session's settings leave switched on."""
    return (ABOUT, HELP, QUIT)
