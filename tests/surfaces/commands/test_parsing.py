"""From texts to commands. The cases follow `packages/cli` `utils/commands.test.ts`."""

from __future__ import annotations

import pytest

from surfaces.commands.contract import CommandContext, SlashCommand
from surfaces.commands.parsing import is_slash_command, looks_like_command, parse_command


async def _nothing(_context: CommandContext) -> None:
    return None


def _command(
    name: str,
    *subcommands: SlashCommand,
    aliases: tuple[str, ...] = (),
    takes_args: bool = True,
    acts: bool = True,
) -> SlashCommand:
    return SlashCommand(
        name=name,
        description=name,
        aliases=aliases,
        subcommands=subcommands,
        takes_args=takes_args,
        action=_nothing if acts else None,
    )


COMMANDS = (
    _command("help"),
    _command("commit"),
    _command(
        "memory",
        _command("add"),
        _command("show", _command("all"), aliases=("cat",)),
        aliases=("mem",),
        acts=False,
    ),
    _command("plan", _command("copy", takes_args=False)),
    _command("other", aliases=("help",)),
)


@pytest.mark.parametrize(
    ("text", "path", "args"),
    [
        ("/help", ("help",), ""),
        ("  /help  ", ("help",), ""),
        ("?help", ("help",), ""),
        ("/ help", ("help",), ""),
        ("/commit -m  two\twords", ("commit",), "-m two words"),
        ("/memory add this text", ("memory", "add"), "this text"),
        ("/mem cat", ("memory", "show"), ""),
        ("/memory show all now", ("memory", "show", "all"), "now"),
        ("/memory unknown word", ("memory",), "unknown word"),
        ("/plan copy", ("plan", "copy"), ""),
        ("/plan copy that file", ("plan",), "copy that file"),
    ],
)
def test_the_longest_path_of_names_and_aliases_is_the_command(
    text: str, path: tuple[str, ...], args: str
) -> None:
    parsed = parse_command(text, COMMANDS)

    assert parsed is not None
    assert (parsed.path, parsed.args) == (path, args)


@pytest.mark.parametrize("text", ["/nope", "/", "", "/HELP", "/helping"])
def test_what_names_no_command_is_none(text: str) -> None:
    assert parse_command(text, COMMANDS) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("/help", True), ("//comment", False), ("/* comment */", False), ("help", False), ("/", True)],
)
def test_comments_are_no_commands(text: str, *, expected: bool) -> None:
    assert is_slash_command(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/nope", True),
        ("/nope with words", True),
        ("/git:commit", True),
        ("/usr/bin/env says no", False),
        ("/", False),
        ("/123", False),
    ],
)
def test_a_path_does_not_look_like_a_command(text: str, *, expected: bool) -> None:
    assert looks_like_command(text) is expected
