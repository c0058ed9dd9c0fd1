"""The built-in commands: one module a family.

Source: `packages/cli` `services/BuiltinCommandLoader.ts`, for the commands and their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from surfaces.commands.builtin.agents import AGENTS
from surfaces.commands.builtin.conversation import CLEAR, COMPRESS, COPY, RESTORE, REWIND
from surfaces.commands.builtin.custom_files import COMMANDS
from surfaces.commands.builtin.documentation import DOCS
from surfaces.commands.builtin.exports import BUG, EXPORT_SESSION
from surfaces.commands.builtin.extensions import EXTENSIONS
from surfaces.commands.builtin.folders import DIRECTORY
from surfaces.commands.builtin.hooks import HOOKS
from surfaces.commands.builtin.ide import IDE
from surfaces.commands.builtin.leaving import QUIT
from surfaces.commands.builtin.listings import POLICIES, TOOLS
from surfaces.commands.builtin.memory import INIT, MEMORY
from surfaces.commands.builtin.modes import MODEL, PLAN
from surfaces.commands.builtin.overview import ABOUT, HELP
from surfaces.commands.builtin.preferences import (
    AUTH,
    EDITOR,
    PERMISSIONS,
    SETTINGS,
    SHORTCUTS,
    THEME,
    VIM,
)
from surfaces.commands.builtin.saved_chats import CHAT, RESUME
from surfaces.commands.builtin.servers import MCP
from surfaces.commands.builtin.skills import SKILLS
from surfaces.commands.builtin.tasks import TASKS
from surfaces.commands.builtin.terminal_setup import TERMINAL_SETUP
from surfaces.commands.builtin.unbuilt import not_built
from surfaces.commands.builtin.usage import STATS
from surfaces.commands.contract import CommandSession, SlashCommand

__all__ = ["builtin_commands", "not_built"]


def builtin_commands(session: CommandSession) -> Sequence[SlashCommand]:
    """The built-in commands that the session's settings leave switched on."""
    return tuple(_commands(session))


def _commands(session: CommandSession) -> Iterable[SlashCommand]:
    services = session.services
    yield from (ABOUT, AGENTS, AUTH, BUG, CHAT, CLEAR, COMMANDS, COMPRESS, COPY)
    yield from (DOCS, EXPORT_SESSION, DIRECTORY, EDITOR, EXTENSIONS, HELP, SHORTCUTS, HOOKS)
    yield from (REWIND, IDE, INIT, MCP, MEMORY, MODEL)
    if services.settings.folder_trust:
        yield PERMISSIONS
    if services.settings.plan_enabled:
        yield PLAN
    yield from (POLICIES, QUIT)
    if services.checkpoints is not None:
        yield RESTORE
    yield from (RESUME, STATS, THEME, TOOLS, SKILLS, SETTINGS, TASKS, VIM, TERMINAL_SETUP)
