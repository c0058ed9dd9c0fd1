"""`/help` and `/about`.

Source: `packages/cli` `ui/commands/helpCommand.ts`, `ui/components/Help.tsx`,
`ui/commands/aboutCommand.ts`, `ui/components/AboutBox.tsx`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from surfaces.commands.contract import CommandContext, CommandKind, SlashCommand

__all__ = ["ABOUT", "HELP", "shortcut_lines"]

_COLUMN: Final = 41
_BASICS: Final = (
    "Basics:",
    (
        "Add context: Use @ to specify files for context (e.g., @src/myFile.ts) to target specific "
        "files or folders."
    ),
    "Shell mode: Execute shell commands via ! (e.g., !npm run start).",
)


async def _help(context: CommandContext) -> None:
    lines = [*_BASICS, "", "Commands:", *command_lines(context.commands)]
    lines += ["! - shell command", "[MCP] - Model Context Protocol command (from external servers)"]
    if context.session.shortcuts:
        lines += ["", "Keyboard Shortcuts:"]
        lines += shortcut_lines(context.session.shortcuts)
    context.panel("\n".join(lines))


def shortcut_lines(shortcuts: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each key, from the pairs of keys and their effect."""
    return [f"{keys} - {effect}" for keys, effect in shortcuts]


def command_lines(commands: Sequence[SlashCommand]) -> Iterable[str]:
    """A line for each command, and a further one for each of its subcommands."""
    for command in _listed(commands):
        server = " [MCP]" if command.kind is CommandKind.MCP_PROMPT else ""
        yield f"/{command.name}{server}{_after_dash(command)}"
        for below in _listed(command.subcommands):
            yield f"  {below.name}{_after_dash(below)}"


def _listed(commands: Sequence[SlashCommand]) -> Iterable[SlashCommand]:
    return (each for each in commands if each.description and not each.hidden)


def _after_dash(command: SlashCommand) -> str:
    # A description may be a whole text: a skill's or a server's.
    first = command.description.strip().partition("\n")[0]
    return f" - {first if len(first) <= 100 else first[:97] + '...'}"


async def _about(context: CommandContext) -> None:
    services, session = context.services, context.session
    variables, ide = services.environment.variables, services.ide
    rows = {
        "CLI Version": services.version,
        "Runtime": session.runtime_name,
        "Model": services.state.model,
        "Sandbox": variables.get("SANDBOX") or "no sandbox",
        "OS": sys.platform,
        "Auth Method": session.auth_type or "",
        "GCP Project": variables.get("GOOGLE_CLOUD_PROJECT", ""),
        "IDE Client": ide.ide.display_name if ide.enabled and ide.ide is not None else "",
    }
    lines = [f"{name:<{_COLUMN}}{value}" for name, value in rows.items() if value]
    context.panel("\n".join(["About parity", "", *lines]))


HELP: Final = SlashCommand(
    name="help",
    description="For help on parity",
    runs_at_once=True,
    action=_help,
)
ABOUT: Final = SlashCommand(
    name="about",
    description="Show version info",
    runs_at_once=True,
    concurrent=True,
    action=_about,
)
