"""Commands of the same name. The cases follow `SlashCommandResolver.test.ts`."""

from __future__ import annotations

import pytest

from surfaces.commands.conflicts import resolve_conflicts
from surfaces.commands.contract import CommandKind, SlashCommand

BUILT_IN = SlashCommand(name="go", description="", kind=CommandKind.BUILT_IN)
USER = SlashCommand(name="go", description="", kind=CommandKind.USER_FILE)
WORKSPACE = SlashCommand(name="go", description="", kind=CommandKind.WORKSPACE_FILE)
EXTENSION = SlashCommand(
    name="go", description="", kind=CommandKind.EXTENSION_FILE, extension="fire"
)
SKILL = SlashCommand(name="go", description="", kind=CommandKind.SKILL)
SKILL_OF_EXTENSION = SlashCommand(
    name="go", description="", kind=CommandKind.SKILL, extension="fire"
)
PROMPT = SlashCommand(name="go", description="", kind=CommandKind.MCP_PROMPT, server="db")


@pytest.mark.parametrize(
    ("commands", "names"),
    [
        ((BUILT_IN, USER), ["go", "user.go"]),
        ((USER, BUILT_IN), ["user.go", "go"]),
        ((USER, WORKSPACE), ["user.go", "workspace.go"]),
        ((USER, WORKSPACE, EXTENSION), ["user.go", "workspace.go", "fire:go"]),
        ((BUILT_IN, PROMPT), ["go", "db.go"]),
        ((BUILT_IN, PROMPT, PROMPT), ["go", "db.go", "db.go1"]),
        ((BUILT_IN, SKILL), ["go", "go1"]),
        ((SKILL_OF_EXTENSION,), ["fire:go"]),
    ],
)
def test_every_command_gets_a_name_of_its_own(
    commands: tuple[SlashCommand, ...], names: list[str]
) -> None:
    resolved, _ = resolve_conflicts(commands)

    assert sorted(each.name for each in resolved) == sorted(names)


def test_the_renamed_commands_are_reported_with_their_winner() -> None:
    _, conflicts = resolve_conflicts((BUILT_IN, USER))

    assert [(each.name, each.renamed_to, each.loser, each.winner) for each in conflicts] == [
        ("go", "user.go", USER, BUILT_IN)
    ]


def test_two_files_both_lose_the_name() -> None:
    _, conflicts = resolve_conflicts((USER, WORKSPACE))

    assert [each.renamed_to for each in conflicts] == ["workspace.go", "user.go"]
