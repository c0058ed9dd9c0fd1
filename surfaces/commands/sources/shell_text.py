"""`!{…}` of a command file: shell commands whose output takes their place.

The session's policy decides about each command. The user's arguments are quoted inside of a
command, and plain elsewhere.

Source: `packages/cli` `services/prompt-processors/shellProcessor.ts`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Final

from services.policy.rules import Decision
from services.tools.shell_process import ShellProcess, ShellStartError
from surfaces.commands.contract import CommandContext, CommandError
from surfaces.commands.results import ConfirmShellCommands
from surfaces.commands.shell_runs import run_shell
from surfaces.commands.sources.injections import Injection, find_injections

__all__ = ["ARGUMENTS", "check_shell_commands", "with_shell_output"]

ARGUMENTS: Final = "{{args}}"
_SHELL: Final = "!{"
_TOOL: Final = "run_shell_command"


async def check_shell_commands(
    texts: Iterable[str], context: CommandContext, command: str
) -> ConfirmShellCommands | None:
    """The question about the shell commands in `texts` that the user has not allowed yet, if any.

    Args:
        texts: the prompt of the command file, in pieces.
        context: the run of the command.
        command: the name of the command, for messages.

    Raises:
        CommandError: the policy denies a command, or its braces are not balanced.
    """
    allowed = context.session.shell_allowlist | context.approved
    lines = [line for text in texts for _, line in _commands(text, context, command) if line]
    questions: list[str] = []
    for line in dict.fromkeys(lines):
        check = await context.services.policy.decide(_TOOL, {"command": line})
        if check.decision is Decision.DENY:
            raise CommandError(
                f'{command} cannot be run. Blocked command: "{line}". Reason: Blocked by policy.'
            )
        if check.decision is Decision.ASK_USER and line not in allowed:
            questions.append(line)
    return ConfirmShellCommands(commands=tuple(questions)) if questions else None


async def with_shell_output(text: str, context: CommandContext, command: str) -> str:
    """`text` with the arguments and with the output of its shell commands, which are allowed.

    Raises:
        CommandError: a command cannot be started.
    """
    expanded, at = "", 0
    for place, line in _commands(text, context, command):
        expanded += text[at : place.start].replace(ARGUMENTS, context.args)
        expanded += await _output(line, context, command) if line else ""
        at = place.end
    return expanded + text[at:].replace(ARGUMENTS, context.args)


def _commands(text: str, context: CommandContext, command: str) -> list[tuple[Injection, str]]:
    """The places of `text`, each with its command line."""
    quoted = shlex.quote(context.args)
    places = find_injections(text, _SHELL, command)
    return [(place, place.content.replace(ARGUMENTS, quoted)) for place in places]


async def _output(line: str, context: CommandContext, command: str) -> str:
    try:
        process = await run_shell(line, context.services, lambda _: None)
    except ShellStartError as error:
        raise CommandError(
            f"Failed to start shell command in '{command}': {error}. Command: {line}"
        ) from error
    return process.text + _ending(process, line)


def _ending(process: ShellProcess, line: str) -> str:
    if process.ended_by is not None:
        return f"\n[Shell command '{line}' terminated by signal {process.ended_by}]"
    if process.exit_code:
        return f"\n[Shell command '{line}' exited with code {process.exit_code}]"
    return ""
