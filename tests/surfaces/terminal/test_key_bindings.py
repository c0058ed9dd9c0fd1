"""The offer of key bindings in the terminal of an IDE."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from harness.live.session_recorder import session_recorder
from surfaces.headless.witness import SessionWitness
from tests.surfaces.terminal.conftest import Open

BINDINGS = "home/.config/Code/User/keybindings.json"


@pytest.fixture(autouse=True)
def vs_code(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CURSOR_TRACE_ID", "VSCODE_GIT_ASKPASS_MAIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM_PROGRAM", "vscode")


async def test_the_offer_is_made_once_and_adds_the_keys(terminal: Open, folders: Path) -> None:
    async with terminal() as screen:
        await screen.shows("Do you want to continue?")
        await screen.pilot.press("1")
        await screen.shows("keybindings to VS Code.")
    async with terminal() as screen:
        await screen.opened()
        text = await screen.shows("Type your message")

    assert "Do you want to continue?" not in text
    keys = {each["key"]: each["args"] for each in json.loads((folders / BINDINGS).read_text())}
    assert keys["shift+enter"] == keys["ctrl+enter"] == {"text": "\\\r\n"}


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
async def test_the_offer_does_not_wait_for_the_session(terminal: Open, folders: Path) -> None:
    opens = threading.Event()

    def witness() -> SessionWitness:
        opens.wait()
        return session_recorder(runtime="legacy")

    try:
        async with terminal(witness=witness) as screen:
            await screen.shows("Do you want to continue?")
            assert not screen.app.opened
            await screen.pilot.press("2")
            opens.set()
            await screen.opened()
    finally:
        opens.set()


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
async def test_a_no_changes_nothing(terminal: Open, folders: Path) -> None:
    async with terminal() as screen:
        await screen.shows("Do you want to continue?")
        await screen.pilot.press("2")
        await screen.shows("Type your message")

    assert not (folders / BINDINGS).exists()


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
async def test_a_key_that_is_taken_and_a_broken_file_stay(terminal: Open, folders: Path) -> None:
    file = folders / BINDINGS
    file.parent.mkdir(parents=True)
    async with terminal() as screen:
        for text, words in (
            ('[{"key": "shift+enter", "command": "mine"}]', "binding already exists"),
            ("// mine\n{}", "not a valid JSON array"),
            ("[", "contains invalid JSON"),
        ):
            file.write_text(text)
            if not words.startswith("binding"):
                await screen.say("/terminal-setup ")
            else:
                await screen.shows("Do you want to continue?")
                await screen.pilot.press("1")
            await screen.shows(words)
            assert file.read_text() == text
