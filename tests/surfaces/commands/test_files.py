"""Command files: where they are, what they expand to, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.state import ApprovalMode, UserFeedback
from surfaces.commands import CommandKind, ConfirmShellCommands, Item, ItemKind, SubmitPrompt
from surfaces.commands.sources.injections import find_injections
from tests.surfaces.commands.conftest import Desk, Desks


def files(**prompts: str) -> Callable[[Path], None]:
    """Write command files of the workspace: name without ending, and prompt."""

    def write(root: Path) -> None:
        folder = root / ".gemini" / "commands"
        folder.mkdir(parents=True)
        for name, prompt in prompts.items():
            (folder / f"{name}.toml").write_text(f"prompt = '''{prompt}'''\n")

    return write


def sent(result: Any) -> str:
    assert isinstance(result, SubmitPrompt), result
    return "".join(part["text"] for part in result.content)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def run(desk: Desks, text: str, prompt: str, **options: Any) -> Any:
    async def script(desk: Desk) -> Any:
        return await desk.run(text)

    return desk.run(script, prepare=files(go=prompt), **options)


@pytest.mark.parametrize(
    ("text", "prompt", "expected"),
    [
        ("/go", "Do it.", "Do it."),
        ("/go a  b", "Do it.", "Do it.\n\n/go a  b"),
        ("/go a b", "Do {{args}}, {{args}}.", "Do a b, a b."),
        ("/go", "Do {{args}}.", "Do ."),
        ("/go", "See @{a.txt}!", "See alpha\n!"),
    ],
)
def test_arguments_and_files_are_inserted(
    desk: Desks, text: str, prompt: str, expected: str
) -> None:
    assert sent(run(desk, text, prompt)) == expected


def test_allowed_shell_commands_run_with_quoted_arguments(desk: Desks) -> None:
    result = run(
        desk, "/go it's", "{{args}}: !{printf %s {{args}}}", approval_mode=ApprovalMode.YOLO
    )

    assert sent(result) == "it's: it's"


def test_a_shell_command_that_fails_says_so(desk: Desks) -> None:
    result = run(desk, "/go", "!{echo out; exit 3}", approval_mode=ApprovalMode.YOLO)

    assert sent(result) == "out\n[Shell command 'echo out; exit 3' exited with code 3]"


def test_shell_commands_are_confirmed_before_any_runs(desk: Desks) -> None:
    prompt = "!{touch one} @{a.txt} !{touch {{args}}}"

    async def script(desk: Desk) -> None:
        asked = await desk.run("/go two")
        assert asked == ConfirmShellCommands(commands=("touch one", "touch two"))
        assert names(desk.root) == [".gemini", "a.txt"]

        sent(await desk.run("/go two", approved=asked.commands))
        assert names(desk.root) == [".gemini", "a.txt", "one", "two"]

        desk.session.shell_allowlist.update(asked.commands)
        sent(await desk.run("/go two"))

    desk.run(script, prepare=files(go=prompt), interactive=True)


def test_a_shell_command_that_the_policy_denies_stops_the_command(desk: Desks) -> None:
    result = run(desk, "/go", "!{touch x}", approval_mode=ApprovalMode.PLAN)

    assert result == Item(
        kind=ItemKind.ERROR,
        text='go cannot be run. Blocked command: "touch x". Reason: Blocked by policy.',
    )


def test_an_approval_does_not_outweigh_the_policy(desk: Desks) -> None:
    async def script(desk: Desk) -> Any:
        return await desk.run("/go", approved=["touch x"])

    result = desk.run(script, prepare=files(go="!{touch x}"), approval_mode=ApprovalMode.PLAN)

    assert result.kind is ItemKind.ERROR


def test_the_contents_of_files_are_not_expanded(desk: Desks) -> None:
    def write(root: Path) -> None:
        files(go="@{a.txt}")(root)
        (root / "a.txt").write_text("!{touch x} {{args}} @{b.txt} !{")

    async def script(desk: Desk) -> Any:
        return await desk.run("/go")

    assert sent(desk.run(script, prepare=write, approval_mode=ApprovalMode.YOLO)) == (
        "!{touch x} {{args}} @{b.txt} !{"
    )


@pytest.mark.parametrize("name", ["../../secret.txt", "/etc/passwd", "link.txt"])
def test_a_file_outside_of_the_workspace_stays_out(desk: Desks, name: str) -> None:
    def write(root: Path) -> None:
        (root.parent / "secret.txt").write_text("secret")
        (root / "link.txt").symlink_to(root.parent / "secret.txt")
        files(go=f"See @{{{name}}}.")(root)

    async def script(desk: Desk) -> tuple[str, str]:
        return sent(await desk.run("/go")), desk.shown

    text, shown = desk.run(script, prepare=write)

    assert text == f"See @{{{name}}}."
    assert shown.startswith(f"Failed to inject content for '@{{{name}}}': Path not in workspace")


def test_a_file_that_is_not_there_or_is_ignored_is_named(desk: Desks) -> None:
    def write(root: Path) -> None:
        (root / ".geminiignore").write_text("a.txt\n")
        files(go="@{a.txt}@{none}")(root)

    async def script(desk: Desk) -> tuple[str, str]:
        return sent(await desk.run("/go")), desk.shown

    text, shown = desk.run(script, prepare=write)

    assert text == "@{none}"
    assert "File '@{a.txt}' was ignored by .gitignore or .geminiignore" in shown
    assert "Path not found in workspace: none" in shown


def test_a_command_file_cannot_run_a_command(desk: Desks) -> None:
    itself, other = run(desk, "/go", "/go again"), run(desk, "/go", "/clear")

    assert itself.text.startswith("The command file of /go runs itself:")
    assert other.text.startswith("The command file of /go runs /clear:")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("prompt = ", "it is not TOML"),
        ("description = 'x'", "The 'prompt' field is required."),
        ("prompt = 5", "The 'prompt' field must be a string."),
        ("prompt = 'x'\ndescription = []", "The 'description' field must be a string."),
        ("prompt = 'x\udcff'", "it is not TOML"),
    ],
)
def test_a_bad_file_is_reported_and_left_out(desk: Desks, text: str, problem: str) -> None:
    def write(root: Path) -> None:
        files(good="x")(root)
        bad = root / ".gemini" / "commands" / "bad.toml"
        bad.write_bytes(text.encode("utf-8", "surrogateescape"))

    async def script(desk: Desk) -> tuple[list[str], list[str]]:
        heard: list[str] = []
        desk.session.services.events.subscribe(
            lambda event: heard.append(event.message) if isinstance(event, UserFeedback) else None
        )
        await desk.layer.load()
        return [each.name for each in desk.layer.commands if each.kind != "built-in"], heard

    found, heard = desk.run(script, prepare=write)

    assert found == ["good"]
    assert [problem in message and "bad.toml" in message for message in heard] == [True]


def test_names_come_from_folders_and_conflicts_are_renamed(desk: Desks) -> None:
    def write(root: Path) -> None:
        files(help="x", both="x")(root)
        inner = root / ".gemini" / "commands" / "git" / "a b"
        inner.mkdir(parents=True)
        (inner / "c.toml").write_text('prompt = "x"\ndescription = "One\\nline"')
        own = root.parent / "home" / ".gemini" / "commands"
        own.mkdir(parents=True)
        (own / "both.toml").write_text('prompt = "y"')

    async def script(desk: Desk) -> dict[str, tuple[CommandKind, str]]:
        return {
            each.name: (each.kind, each.description)
            for each in desk.layer.commands
            if each.kind is not CommandKind.BUILT_IN
        }

    assert desk.run(script, prepare=write) == {
        "user.both": (CommandKind.USER_FILE, "Custom command from both.toml"),
        "workspace.both": (CommandKind.WORKSPACE_FILE, "Custom command from both.toml"),
        "git:a_b:c": (CommandKind.WORKSPACE_FILE, "One line"),
        "workspace.help": (CommandKind.WORKSPACE_FILE, "Custom command from help.toml"),
    }


def test_folders_that_link_to_each_other_end(desk: Desks) -> None:
    def write(root: Path) -> None:
        files(go="x")(root)
        for name in ("again", "more"):
            (root / ".gemini" / "commands" / name).symlink_to(root / ".gemini" / "commands")

    async def script(desk: Desk) -> list[str]:
        return [each.name for each in desk.layer.commands if each.kind != "built-in"]

    assert desk.run(script, prepare=write) == ["go"]


def test_an_untrusted_workspace_has_no_commands(desk: Desks) -> None:
    async def script(desk: Desk) -> Any:
        return desk.layer.find("/go")

    assert desk.run(script, prepare=files(go="x"), folder_trusted=False) is None


def test_braces_are_counted() -> None:
    found = find_injections("a !{x {y} z} b !{ }", "!{", "go")

    assert [(each.content, each.start, each.end) for each in found] == [
        ("x {y} z", 2, 12),
        ("", 15, 19),
    ]


def test_braces_that_do_not_end_are_named(desk: Desks) -> None:
    assert "Unclosed injection starting at index 2 ('!{')" in run(desk, "/go", "a !{x {y}").text
