"""Prompts as commands, and their servers, against the words of the published tool."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from services.mcp.prompt_commands import (
    PromptArgument,
    PromptCommandError,
    parse_arguments,
    prompt_commands,
    prompt_help,
    run_prompt,
)
from tests.services.mcp.conftest import OpenSession, on_virtual_time, server

CORPUS_SERVER = Path(__file__).parents[3] / "cassettes" / "mcp_server.py"


def _argument(name: str, *, required: bool = False) -> PromptArgument:
    return PromptArgument(name=name, description=None, required=required)


A, B = _argument("a", required=True), _argument("b", required=True)
OPTIONAL = _argument("c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('--a="one two" --b=three', {"a": "one two", "b": "three"}),
        ("one two", {"a": "one", "b": "two"}),
        ('"one two" three four', {"a": "one two", "b": "three"}),
        ("--b=2 one more", {"a": "one more", "b": "2"}),
        ('--a="say \\"hi\\"" x', {"a": 'say "hi"', "b": "x"}),
        ("one --c=3 two", {"c": "3", "a": "one", "b": "two"}),
        ("one two --unknown=4", {"a": "one", "b": "two"}),
        ("--a=1", {"a": "1", "b": ""}),
        ("--=1 --a= x --b=2", {"a": "--=1 --a= x", "b": "2"}),
    ],
)
def test_arguments_are_given_by_name_or_by_position(text: str, expected: dict[str, str]) -> None:
    assert parse_arguments(text, (A, B, OPTIONAL)) == expected


@pytest.mark.parametrize(
    ("text", "missing"), [("", "--a, --b"), ("one", "--b"), ("--c=1", "--a, --b")]
)
def test_missing_arguments_are_named(text: str, missing: str) -> None:
    with pytest.raises(PromptCommandError, match=f"Missing required argument.s.: {missing}$"):
        parse_arguments(text, (A, B, OPTIONAL))


def test_endless_arguments_are_refused() -> None:
    with pytest.raises(PromptCommandError, match="longer than 1048576 characters"):
        parse_arguments("-" * (1024 * 1024 + 1), (A,))


def test_hostile_arguments_are_parsed_in_reasonable_work() -> None:
    # In quadratic time this would exceed the timeout of a test.
    for text in ("--" * 100_000, '--a="' + "\\" * 100_000, '"' * 100_001):
        assert set(parse_arguments(text, (A,))) == {"a"}
    with pytest.raises(PromptCommandError):
        parse_arguments("--=" * 1000, (A, *(B for _ in range(2000))))


@on_virtual_time
async def test_the_prompts_of_a_server_are_commands(session: OpenSession) -> None:
    servers = {
        "poet": {"command": sys.executable, "args": [str(CORPUS_SERVER), "bare", "prompts"]},
        "calc": server("fickle.py"),
    }
    async with session(servers) as opened:
        greet, rhyme, *_ = prompt_commands(opened.manager.prompts())
        assert (greet.name, greet.description, greet.runs_at_once) == (
            "greet-someone",
            "Greets.",
            False,
        )
        assert (rhyme.name, rhyme.description, rhyme.runs_at_once) == (
            "rhyme",
            "Invoke prompt rhyme",
            True,
        )
        assert prompt_help(rhyme) == 'Prompt "rhyme" has no arguments.'
        assert prompt_help(greet) == (
            'Arguments for "greet someone":\n\n'
            'You can provide arguments by name (e.g., --argName="value") or by position.\n\n'
            'e.g., greet someone "foo","foo" is equivalent to '
            'greet someone --name="foo",--style="foo"\n\n'
            "  --name\n    Who is greeted.\n    (required: yes)\n\n"
            "  --style\n    (required: no)\n\n"
        )
        assert await run_prompt(greet, 'Ada --style="very \\"warm\\""') == [
            {"text": '"Say hello to Ada, style: very \\"warm\\"."'}
        ]
        with pytest.raises(PromptCommandError, match="empty or invalid prompt response"):
            await run_prompt(rhyme, "")


@on_virtual_time
async def test_a_prompt_of_a_server_that_has_ended_is_an_error(session: OpenSession) -> None:
    servers = {"poet": {"command": sys.executable, "args": [str(CORPUS_SERVER), "prompts"]}}
    async with session(servers) as opened:
        greet = prompt_commands(opened.manager.prompts())[0]
        await opened.call("mcp_poet_die")
        with pytest.raises(PromptCommandError, match=r"^Error: Not connected$"):
            await run_prompt(greet, "Ada")
        assert opened.said()[-1] == (
            "error: Error invoking prompt 'greet someone' from poet [object Object]: Not connected"
        )
        await opened.manager.restart_server("poet")
        again = prompt_commands(opened.manager.prompts())[0]
        assert await run_prompt(again, "Ada") == [{"text": '"Say hello to Ada, style: plain."'}]
