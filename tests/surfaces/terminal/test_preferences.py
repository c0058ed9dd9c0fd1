"""Dialogs that change the user's settings, in both runtimes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.surfaces.terminal.conftest import Open, calls, says

WRITE = {"file_path": "new.txt", "content": "one\ntwo\n"}
SETTINGS = '{\n  // mine\n  "ui": {}\n}\n'


@contextmanager
def _suspended() -> Iterator[None]:
    yield


@pytest.fixture
def vim(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `vim` that writes `edited` into its file, on a `PATH` with nothing else."""
    (folders / "bin").mkdir()
    program = folders / "bin" / "vim"
    program.write_text('#!/bin/sh\necho edited > "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folders / 'bin'}:/usr/bin:/bin")
    return program


@pytest.fixture
def settings(folders: Path) -> Path:
    """The user's settings file, with a comment."""
    file = folders / "home" / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    return file


async def test_the_editor_is_chosen_and_kept(terminal: Open, settings: Path, vim: Path) -> None:
    async with terminal() as screen:
        await screen.say("/editor")
        await screen.shows(" 2. Antigravity (Not installed)")
        text = await screen.shows("13. Vim")
        await screen.pilot.press("1", "3", "enter")
        await screen.hides("Select Editor")

    assert "Vim (Not" not in text
    assert "Your preferred editor is: None." in text
    assert "// mine" in settings.read_text()
    assert '"preferredEditor": "vim"' in settings.read_text()


async def test_tab_leads_to_the_workspaces_settings(
    terminal: Open, folders: Path, settings: Path, vim: Path
) -> None:
    async with terminal() as screen:
        await screen.say("/editor")
        await screen.shows("> Select Editor")
        await screen.pilot.press("tab")
        await screen.shows("> Apply To")
        await screen.pilot.press("2")
        await screen.shows("> Select Editor")
        await screen.pilot.press("1", "3", "enter")
        await screen.hides("Select Editor")

    assert settings.read_text() == SETTINGS
    written = json.loads((folders / "ws" / ".gemini" / "settings.json").read_text())
    assert written == {"general": {"preferredEditor": "vim"}}


async def test_escape_keeps_the_editor(terminal: Open, settings: Path, vim: Path) -> None:
    async with terminal() as screen:
        await screen.say("/editor")
        await screen.shows("> Select Editor")
        await screen.pilot.press("escape")
        await screen.hides("Select Editor")

    assert settings.read_text() == SETTINGS


async def test_a_settings_file_that_cannot_be_written_is_named(
    terminal: Open, settings: Path, vim: Path
) -> None:
    async with terminal() as screen:
        await screen.opened()
        settings.write_text("{")
        await screen.say("/editor")
        await screen.shows("> Select Editor")
        await screen.pilot.press("1", "3", "enter")
        await screen.shows("✕ The setting general.preferredEditor cannot be saved")

    assert settings.read_text() == "{"


async def test_an_edit_without_an_editor_asks_for_one_and_opens_it(
    terminal: Open, folders: Path, vim: Path
) -> None:
    async with terminal(calls("write_file", **WRITE), says("done")) as screen:
        screen.view.editor._suspend = _suspended
        await screen.say("write")
        await screen.shows("Modify with external editor")
        await screen.pilot.press("3")
        text = await screen.shows("> Select Editor")
        await screen.pilot.press("1", "3", "enter")
        await screen.shows("✦ done")

    assert text.index("Modify with external editor") < text.index("Select Editor")
    assert (folders / "ws" / "new.txt").read_text() == "edited\n"


async def test_an_editor_that_fails_to_start_leaves_the_question_open(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", str(folders / "no-such-editor"))
    async with terminal(calls("write_file", **WRITE), says("done")) as screen:
        screen.view.editor._suspend = _suspended
        await screen.say("write")
        await screen.shows("Modify with external editor")
        await screen.pilot.press("3")
        await screen.shows("✕ The editor cannot be started")
        await screen.shows("Modify with external editor")
        await screen.pilot.press("1")
        await screen.shows("✦ done")


async def test_a_model_is_kept_for_later_sessions(terminal: Open, settings: Path) -> None:
    async with terminal() as screen:
        await screen.say("/model set gemini-2.5-pro --persist")
        await screen.shows("Model set to gemini-2.5-pro (persisted)")

    assert '"name": "gemini-2.5-pro"' in settings.read_text()
    assert "// mine" in settings.read_text()


async def test_the_model_is_chosen_for_this_session(terminal: Open, settings: Path) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.say("/model")
        text = await screen.shows("1. Auto")
        assert "● 2. Manual (gemini-2.5-flash)" not in text  # It is none that is offered.
        assert "Remember model for future sessions: false (Press Tab to toggle)" in text
        await screen.pilot.press("2")
        await screen.shows("gemini-2.5-pro")
        await screen.pilot.press("escape")
        await screen.shows("1. Auto")
        await screen.pilot.press("2")
        text = await screen.shows("gemini-2.5-pro")
        number = next(line for line in text.splitlines() if "gemini-2.5-pro" in line).split(".")[0]
        await screen.pilot.press(number[-1])
        await screen.hides("Select Model")
        session = screen.view.session
        assert session is not None
        assert session.services.state.model == "gemini-2.5-pro"

    assert settings.read_text() == SETTINGS


async def test_tab_keeps_the_model_for_later_sessions(terminal: Open, settings: Path) -> None:
    async with terminal() as screen:
        await screen.say("/model")
        await screen.shows("future sessions: false")
        await screen.pilot.press("tab")
        await screen.shows("future sessions: true")
        await screen.pilot.press("1")
        await screen.hides("Select Model")

    assert '"name": "auto"' in settings.read_text()
    assert "// mine" in settings.read_text()


async def test_a_theme_is_shown_while_it_is_highlighted_and_kept_when_chosen(
    terminal: Open, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with terminal() as screen:
        before = screen.app.theme
        await screen.say("/theme")
        await screen.shows("● 3. Default")
        await screen.pilot.press("down")
        await screen.shows("● 4. Dracula")
        assert screen.app.theme == "dracula"
        await screen.pilot.press("escape")
        await screen.hides("Select Theme")
        await screen.pilot.pause()
        assert screen.app.theme == before
        await screen.say("/theme")
        await screen.shows("● 3. Default")
        await screen.pilot.press("4")
        await screen.hides("Select Theme")

    assert '"theme": "Dracula"' in settings.read_text()
    async with terminal() as screen:
        assert screen.app.theme == "dracula"


async def test_without_colours_there_is_no_choice_of_themes(
    terminal: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with terminal() as screen:
        await screen.say("/theme")
        await screen.shows("Theme configuration unavailable due to NO_COLOR env variable.")


async def test_the_trust_of_a_folder_is_changed(terminal: Open, folders: Path) -> None:
    async with terminal() as screen:
        await screen.say("/permissions trust")
        text = await screen.shows("Current Level: Not Set")
        assert "1. Trust this folder (ws)" in text
        await screen.pilot.press("3")
        await screen.shows("is not trusted.")
        await screen.say("/permissions trust")
        await screen.shows("Current Level: DO_NOT_TRUST")
        await screen.shows("● 3. Don't trust")
        await screen.pilot.press("escape")

    rules = json.loads((folders / "home" / ".gemini" / "trustedFolders.json").read_text())
    assert rules == {str(folders / "ws"): "DO_NOT_TRUST"}
