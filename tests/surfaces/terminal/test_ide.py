"""The companion of an IDE beside the terminal, in both runtimes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.surfaces.terminal.conftest import Open, Terminal, calls, says

WRITE = {"file_path": "new.txt", "content": "one\ntwo\n"}
CONTEXT = "Here is the user's editor context as a JSON object."


@pytest.fixture
def ide(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An IDE whose key bindings are set up; its companion decides as `use` says."""
    settings = folders / "home/.gemini/settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"ide": {"enabled": True}}))
    (folders / "home/.gemini/state.json").write_text('{"terminalSetupPromptShown": true}')
    monkeypatch.setenv("TERM_PROGRAM", "vscode")
    monkeypatch.setenv("GEMINI_CLI_IDE_WORKSPACE_PATH", str(folders / "ws"))
    monkeypatch.setenv("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", sys.executable)
    return folders


def use(ide: Path, monkeypatch: pytest.MonkeyPatch, decides: str) -> None:
    args = json.dumps([str(Path(__file__).with_name("companion.py")), str(ide / "ws"), decides])
    monkeypatch.setenv("GEMINI_CLI_IDE_SERVER_STDIO_ARGS", args)


async def connected(screen: Terminal) -> None:
    await screen.shows("1 open file (F4 to view)")


async def test_the_model_learns_of_the_editor_once(
    terminal: Open, ide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(ide, monkeypatch, "none")
    async with terminal(says("first"), says("second")) as screen:
        await connected(screen)
        await screen.say("hi")
        await screen.shows("✦ first")
        await screen.say("again")
        await screen.shows("✦ second")
        sent = screen.sent

    assert sent.count(CONTEXT) == 1
    assert sent.index(CONTEXT) < sent.index('"hi"')
    assert str(ide / "ws/a.txt") in sent


@pytest.mark.parametrize(
    ("decides", "text"), [("accept", "one\ntwo\n"), ("edit", "edited in the IDE\n")]
)
async def test_an_edit_is_accepted_in_the_ide(
    terminal: Open, ide: Path, monkeypatch: pytest.MonkeyPatch, decides: str, text: str
) -> None:
    use(ide, monkeypatch, decides)
    async with terminal(calls("write_file", **WRITE), says("ok")) as screen:
        await connected(screen)
        await screen.say("go")
        shown = await screen.shows("✦ ok")

    assert "Accepted" in shown
    assert (ide / "ws/new.txt").read_text() == text


async def test_an_edit_is_refused_in_the_ide(
    terminal: Open, ide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(ide, monkeypatch, "reject")
    async with terminal(calls("write_file", **WRITE), says("never")) as screen:
        await connected(screen)
        await screen.say("go")
        shown = await screen.shows("Request cancelled.")

    assert "Rejected (+2, -0)" in shown
    assert "never" not in shown


async def test_an_edit_that_is_allowed_in_the_terminal_has_the_text_of_the_ide(
    terminal: Open, ide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(ide, monkeypatch, "none")
    async with terminal(calls("write_file", **WRITE), says("ok")) as screen:
        await connected(screen)
        await screen.say("go")
        dialog = await screen.shows("Apply this change?")
        await screen.pilot.press("1")
        await screen.shows("✦ ok")

    assert "external editor" not in dialog
    assert (ide / "ws/new.txt").read_text() == "edited in the IDE\n"
    new = ide / "ws/new.txt"
    assert (ide / "companion.log").read_text() == f"openDiff {new}\ncloseDiff {new}\n"


async def test_the_command_shows_and_switches_the_connection(
    terminal: Open, ide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(ide, monkeypatch, "none")
    async with terminal() as screen:
        await connected(screen)
        await screen.say("/ide status ")
        status = await screen.shows("Open files:")
        await screen.say("/ide disable ")
        await screen.shows("IDE integration disabled")
        await screen.say("/ide enable ")
        await connected(screen)

    assert "Connected to" in status
    assert "- a.txt (active)" in status


async def test_a_companion_that_ends_is_missed(
    terminal: Open, ide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_CLI_IDE_SERVER_STDIO_ARGS", '["-c", "pass"]')
    async with terminal(says("fine")) as screen:
        await screen.opened()
        await screen.say("/ide status ")
        await screen.shows("Failed to connect to IDE companion extension")
        await screen.say("hi")
        await screen.shows("✦ fine")


async def test_outside_of_an_ide_there_is_nothing_to_connect_to(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERM_PROGRAM", raising=False)
    async with terminal() as screen:
        await screen.opened()
        await screen.say("/ide status ")
        await screen.shows("IDE integration is not supported in your current environment.")
