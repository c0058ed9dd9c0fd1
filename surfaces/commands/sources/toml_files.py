"""Command files: `.toml` files with a prompt, as commands.

Source: `packages/cli` `services/FileCommandLoader.ts`,
`services/prompt-processors/argumentProcessor.ts`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from services.regular_files import MOST_TEXT, read_regular
from services.state import UserFeedback
from services.wire import Part
from surfaces.commands.contract import (
    Argument,
    CommandContext,
    CommandError,
    CommandSession,
    SlashCommand,
)
from surfaces.commands.parsing import is_slash_command, parse_command
from surfaces.commands.results import Result, SubmitPrompt
from surfaces.commands.sources.file_text import FILE, with_file_contents
from surfaces.commands.sources.places import CommandPlace, command_files, command_places
from surfaces.commands.sources.shell_text import (
    ARGUMENTS,
    check_shell_commands,
    with_shell_output,
)

__all__ = ["file_commands"]

_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_\-.]")
_LONGEST_NAME: Final = 50
_LONGEST_DESCRIPTION: Final = 100
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class _Unusable(Exception):
    """The file is no command file; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """The contents of a command file."""

    name: str
    prompt: str
    description: str


async def file_commands(session: CommandSession) -> Sequence[SlashCommand]:
    """The commands of all command files; one that cannot be used is reported, and left out."""
    commands: list[SlashCommand] = []
    for place in command_places(session):
        for path in command_files(place.folder):
            try:
                commands.append(_command(_read(path, place), place))
            except _Unusable as problem:
                message = f"Skipping the command file {path}: {problem}"
                session.services.events.emit(UserFeedback(severity="error", message=message))
    return commands


def _read(path: Path, place: CommandPlace) -> _File:
    try:
        found = tomllib.loads(read_regular(path, MOST_TEXT).decode())
    except OSError as error:
        raise _Unusable(f"it cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise _Unusable(f"it is not TOML: {error}") from error
    prompt, description = found.get("prompt"), found.get("description")
    if prompt is None:
        raise _Unusable("The 'prompt' field is required.")
    if not isinstance(prompt, str):
        raise _Unusable("The 'prompt' field must be a string.")
    if description is not None and not isinstance(description, str):
        raise _Unusable("The 'description' field must be a string.")
    inner = path.relative_to(place.folder).with_suffix("").parts
    shown = _shown(description or f"Custom command from {path.name}")
    return _File(
        name=":".join(map(_segment, inner)),
        prompt=prompt,
        description=f"[{place.extension}] {shown}" if place.extension else shown,
    )


def _segment(text: str) -> str:
    name = _NOT_IN_NAMES.sub("_", text)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _shown(text: str) -> str:
    text = _CONTROL.sub(" ", text).strip()
    cut = _LONGEST_DESCRIPTION - 3
    return text if len(text) <= _LONGEST_DESCRIPTION else f"{text[:cut]}..."


def _command(file: _File, place: CommandPlace) -> SlashCommand:
    return SlashCommand(
        name=file.name,
        description=file.description,
        kind=place.kind,
        extension=place.extension,
        arguments=(Argument(name="args", description=_args_of(file)),),
        action=partial(_run, file=file),
    )


def _args_of(file: _File) -> str:
    if ARGUMENTS in file.prompt:
        return f"The text that takes the place of {ARGUMENTS} in the prompt"
    return "A text that follows the prompt"


async def _run(context: CommandContext, file: _File) -> Result:
    """Files come first, then shell commands and arguments in the texts, as in the source."""
    _refuse_commands(context, file)
    pieces: tuple[str | Part, ...] = (file.prompt,)
    if FILE in file.prompt:
        pieces = await with_file_contents(file.prompt, context, file.name)
    texts = [piece for piece in pieces if isinstance(piece, str)]
    question = await check_shell_commands(texts, context, file.name)
    if question is not None:
        return question
    parts = [
        {"text": await with_shell_output(piece, context, file.name)}
        if isinstance(piece, str)
        else piece
        for piece in pieces
    ]
    if ARGUMENTS not in file.prompt and context.args:
        return SubmitPrompt(content=_with_invocation(parts, context.raw))
    return SubmitPrompt(content=tuple(parts))


def _refuse_commands(context: CommandContext, file: _File) -> None:
    """A prompt goes to the model, which runs no commands: it cannot call one, or itself.

    Raises:
        CommandError: the prompt begins with a command.
    """
    prompt = file.prompt.strip()
    called = parse_command(prompt, context.commands) if is_slash_command(prompt) else None
    if called is not None:
        itself = "itself" if called.command.name == file.name else f"/{called.command.name}"
        raise CommandError(
            f"The command file of /{file.name} runs {itself}: a command file's prompt goes to the "
            "model, which cannot run commands. Write what the model is to do."
        )


def _with_invocation(parts: Sequence[Part], raw: str) -> tuple[Part, ...]:
    """The parts, with what the user wrote after the last text. Source: `appendToLastTextPart`."""
    if parts and "text" in parts[-1]:
        return (*parts[:-1], {"text": f"{parts[-1]['text']}\n\n{raw}"})
    return (*parts, {"text": f"\n\n{raw}"})
