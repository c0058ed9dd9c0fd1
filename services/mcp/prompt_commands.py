"""The servers' prompts as commands of the user: their names, arguments, help, and their text.

A layer of commands lists them with `prompt_commands` and sends the parts of `run_prompt` to the
model.

Source: `packages/cli` `services/McpPromptLoader.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.mcp.errors import McpConnectionError, McpError
from services.mcp.registries import McpPrompt
from services.mcp.results import ShapeError
from services.wire import JsonObject, Part, js_json

__all__ = [
    "PromptArgument",
    "PromptCommand",
    "PromptCommandError",
    "parse_arguments",
    "prompt_commands",
    "prompt_help",
    "run_prompt",
]

_VALUE: Final = re.compile(r'"((?:\\.|[^"\\])*)"|([^ ]+)')
_ESCAPED: Final = re.compile(r"\\(.)")
_LONGEST: Final = 1024 * 1024
"""The most characters of arguments that are read; upstream has no limit."""


class PromptCommandError(Exception):
    """The prompt cannot be run; the message is for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """An argument of a prompt."""

    name: str
    description: str | None
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCommand:
    """A prompt as a command."""

    name: str
    """The command's name: the prompt's, with dashes for blanks."""
    description: str
    arguments: tuple[PromptArgument, ...]
    prompt: McpPrompt

    @property
    def runs_at_once(self) -> bool:
        """Whether choosing it in a list runs it: it has no arguments."""
        return not self.arguments


def prompt_commands(prompts: Iterable[McpPrompt]) -> list[PromptCommand]:
    """The commands for `prompts`, in their order."""
    return [_command(prompt) for prompt in prompts]


def _command(prompt: McpPrompt) -> PromptCommand:
    listed = prompt.wire.get("arguments") or []
    return PromptCommand(
        name=re.sub(r"\s+", "-", prompt.name.strip()),
        description=prompt.wire.get("description") or f"Invoke prompt {prompt.name}",
        arguments=tuple(
            PromptArgument(
                name=each["name"],
                description=each.get("description"),
                required=bool(each.get("required")),
            )
            for each in listed
        ),
        prompt=prompt,
    )


def prompt_help(command: PromptCommand) -> str:
    """What the command's `help` shows."""
    name, arguments = command.prompt.name, command.arguments
    if not arguments:
        return f'Prompt "{name}" has no arguments.'
    # Upstream inserts lists of texts, which JavaScript joins with commas.
    plain = ",".join('"foo"' for _ in arguments)
    named = ",".join(f'--{each.name}="foo"' for each in arguments)
    lines = [
        f'Arguments for "{name}":\n\n',
        'You can provide arguments by name (e.g., --argName="value") or by position.\n\n',
        f"e.g., {name} {plain} is equivalent to {name} {named}\n\n",
    ]
    for each in arguments:
        described = f"    {each.description}\n" if each.description else ""
        required = "yes" if each.required else "no"
        lines.append(f"  --{each.name}\n{described}    (required: {required})\n\n")
    return "".join(lines)


def parse_arguments(text: str, arguments: Sequence[PromptArgument]) -> dict[str, str]:
    """The values of `arguments` in the text after the command: `--name="value"`, or by position.

    A single required argument without a value takes all that is given by position. Optional
    arguments are given by name only.

    Raises:
        PromptCommandError: required arguments are missing; the message names them.
    """
    if len(text) > _LONGEST:
        raise PromptCommandError(f"The arguments are longer than {_LONGEST} characters.")
    named, rest = _named(text)
    given = [_value(found) for found in _VALUE.finditer(rest.strip())]
    values = {each.name: named[each.name] for each in arguments if named.get(each.name)}
    open_ones = [each.name for each in arguments if each.required and not values.get(each.name)]
    if len(open_ones) == 1:
        return {**values, open_ones[0]: " ".join(given)}
    missing = open_ones[len(given) :]
    if missing:
        names = ", ".join(f"--{name}" for name in missing)
        raise PromptCommandError(f"Missing required argument(s): {names}")
    return {**values, **dict(zip(open_ones, given, strict=False))}


async def run_prompt(command: PromptCommand, text: str) -> list[Part]:
    """Ask the server for the prompt, and return what is sent to the model.

    Upstream sends the text of the first message, as JSON writes it, and ignores all others.

    Args:
        command: the prompt.
        text: the text after the command.

    Raises:
        PromptCommandError: the arguments or the server's answer are unusable.
    """
    values = parse_arguments(text, command.arguments)
    try:
        result = await command.prompt.invoke(values)
    except (McpError, McpConnectionError, ShapeError) as error:
        raise PromptCommandError(f"Error: {error}") from error
    if result.get("error"):
        raise PromptCommandError(f"Error invoking prompt: {result['error']}")
    messages: Sequence[JsonObject] = result["messages"]
    content: JsonObject = messages[0]["content"] if messages else {}
    if content.get("type") != "text":
        raise PromptCommandError("Received an empty or invalid prompt response from the server.")
    return [{"text": js_json(content["text"])}]


def _named(text: str) -> tuple[dict[str, str], str]:
    """The values that are given by name, and the rest of `text`.

    A name reaches from two dashes to the next `=`. One expression for name and value would take
    quadratic time.
    """
    values: dict[str, str] = {}
    rest: list[str] = []
    done, at = 0, text.find("--")
    while at >= 0 and (equals := text.find("=", at + 2)) >= 0:
        found = _VALUE.match(text, equals + 1)
        if equals == at + 2 or found is None:
            at = text.find("--", at + 1 if equals == at + 2 else equals)
            continue
        values[text[at + 2 : equals]] = _value(found)
        rest.append(text[done:at])
        done = found.end()
        at = text.find("--", done)
    return values, "".join([*rest, text[done:]])


def _value(found: re.Match[str]) -> str:
    return _ESCAPED.sub(r"\1", found[1] if found[1] is not None else found[2])
