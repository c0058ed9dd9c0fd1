"""`/settings`, in both runtimes."""

import json
from pathlib import Path

import pytest

from services.settings import PARAMETERS
from surfaces.terminal.setting_rows import ROWS
from tests.surfaces.terminal.conftest import Open, Terminal

SETTINGS = '{\n  // mine\n  "model": {"maxSessionTurns": 7}\n}\n'


@pytest.fixture
def settings(folders: Path) -> Path:
    """The user's settings file, with a comment."""
    file = folders / "home" / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    return file


async def _search(screen: Terminal, words: str) -> None:
    await screen.opened()
    await screen.say("/settings")
    await screen.shows("> Settings")
    await screen.type(words)


def _line(text: str, label: str) -> list[str]:
    return next(line for line in text.splitlines() if label in line).strip("│ ").split()


async def test_a_switch_is_turned_and_written_at_once(terminal: Open, settings: Path) -> None:
    async with terminal() as screen:
        await _search(screen, "checkpoint")
        text = await screen.shows("● Enable Checkpointing")
        assert _line(text, "Enable Checkpointing")[-1] == "false"
        await screen.pilot.press("enter")
        text = await screen.shows("true*")
        assert "The changes take effect in the next session." in text
        await screen.pilot.press("ctrl+l")
        await screen.hides("true*")
        await screen.pilot.press("enter")
        await screen.shows("true*")
        await screen.pilot.press("escape", "escape")
        await screen.hides("> Settings")

    assert "// mine" in settings.read_text()
    assert '"checkpointing": {\n      "enabled": true\n    }' in settings.read_text()


async def test_a_choice_goes_through_its_values(terminal: Open, settings: Path) -> None:
    async with terminal() as screen:
        await _search(screen, "approval mode")
        await screen.shows("Default Approval Mode")
        for words in ("Auto Edit*", "Plan*", "Default*"):
            await screen.pilot.press("enter")
            await screen.shows(words)

    assert '"defaultApprovalMode": "default"' in settings.read_text()


async def test_a_number_is_typed(terminal: Open, settings: Path) -> None:
    async with terminal() as screen:
        await _search(screen, "session turns")
        text = await screen.shows("● Max Session Turns")
        assert _line(text, "Max Session Turns")[-1] == "7*"
        await screen.pilot.press("enter", "x", "enter")
        await screen.shows("a number expected, not 7x")
        await screen.pilot.press("backspace", "5", "enter")
        await screen.shows("75*")

    assert settings.read_text() == SETTINGS.replace("7", "75")


async def test_tab_leads_to_the_workspaces_file(
    terminal: Open, folders: Path, settings: Path
) -> None:
    async with terminal() as screen:
        await _search(screen, "folder trust")
        await screen.shows("● Folder Trust")
        await screen.pilot.press("tab", "down", "enter")
        await screen.shows("● Workspace Settings")
        await screen.pilot.press("enter")
        await screen.shows("false*")

    assert settings.read_text() == SETTINGS
    written = json.loads((folders / "ws" / ".gemini" / "settings.json").read_text())
    assert written == {"security": {"folderTrust": {"enabled": False}}}


async def test_a_file_that_cannot_be_written_is_named(terminal: Open, settings: Path) -> None:
    async with terminal() as screen:
        await _search(screen, "checkpoint")
        settings.write_text("{")
        await screen.pilot.press("enter")
        await screen.shows("cannot be saved")

    assert settings.read_text() == "{"


async def test_ctrl_l_clears_the_screen_again_when_the_dialog_is_closed(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.say("/about")
        await screen.shows("About parity")
        await _search(screen, "zz")
        await screen.shows("No matches found.")
        await screen.pilot.press("ctrl+l")
        await screen.shows("About parity")
        await screen.pilot.press("escape", "escape", "ctrl+l")
        await screen.hides("About parity")


def test_every_row_is_a_setting_with_an_effect() -> None:
    known = {each.key for each in PARAMETERS} | {
        "general.defaultApprovalMode",
        "general.vimMode",
        "security.enablePermanentToolApproval",
    }

    assert [row.key for row in ROWS if row.key not in known] == []
    assert all(row.options is None or row.default in row.options for row in ROWS)
