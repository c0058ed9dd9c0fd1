"""The dialogs of commands: sign-in, background commands, agents, hooks, folders; and `/vim`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from services.clock import VirtualClock
from services.sign_in.api_key import ApiKeyStore
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.streams import Streams
from surfaces.terminal.app import TerminalApp
from surfaces.terminal.prepared import prepare
from tests.surfaces.terminal.conftest import Open, Terminal, calls, says

SETTINGS = Path("home/.gemini/settings.json")


def unsigned(**options: Any) -> TerminalApp:
    """A terminal without a way to sign in."""
    streams = Streams(io.StringIO(), io.StringIO())
    return TerminalApp(prepare(HeadlessOptions(**options), Machine.here(), streams))


def stored(folders: Path) -> Any:
    return json.loads((folders / SETTINGS).read_text())


# ------------------------------------------------------------------ sign-in


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
async def test_without_a_way_to_sign_in_the_user_is_asked_first(
    folders: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    app = unsigned(runtime=runtime)

    async with app.run_test(size=(120, 50)) as pilot:
        screen = Terminal(pilot)
        await screen.shows("How would you like to authenticate for this project?")
        await screen.shows("No authentication method selected.")
        await pilot.press("escape")
        await screen.shows("You must select an auth method to proceed.")
        await screen.type("2")
        await screen.shows("Enter Gemini API Key")
        await pilot.press("enter")
        await screen.shows("API key cannot be empty.")
        await screen.type("2")
        await screen.shows("Enter Gemini API Key")
        await pilot.press("escape")
        await screen.shows("How would you like to authenticate")
        await screen.type("3")
        await screen.shows("GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION")
        await screen.type("2")
        await screen.shows("Enter Gemini API Key")
        await screen.type("key! 7")
        await pilot.press("enter")
        await screen.opened()
        await screen.say("/about")
        await screen.shows("gemini-api-key")
        await pilot.press("ctrl+q")

    assert stored(folders)["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert ApiKeyStore(folders / "home").load() == "key7"  # Other letters are no part of a key.
    assert unsigned()._prepared.unsigned is None


async def test_the_user_may_leave_without_a_choice(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    app = unsigned()

    async with app.run_test(size=(120, 50)) as pilot:
        await Terminal(pilot).shows("How would you like to authenticate")
        await pilot.press("ctrl+c", "ctrl+c")
        await pilot.pause(0.2)

    assert app.return_value == 0


async def test_auth_keeps_the_conversation(terminal: Open, folders: Path) -> None:
    async with terminal(says("first answer"), says("second answer")) as screen:
        await screen.say("one")
        await screen.shows("✦ first answer")
        await screen.say("/auth")
        await screen.shows("● 2. Use Gemini API Key")
        await screen.pilot.press("escape")
        await screen.hides("How would you like to authenticate")
        await screen.say("/auth login")
        await screen.shows("● 2. Use Gemini API Key")
        before = screen.view
        await screen.pilot.press("enter")
        await screen.shows("Enter Gemini API Key")
        await screen.pilot.press("enter")
        for _ in range(400):
            if screen.app.view not in (None, before):
                break
            await screen.pilot.pause(0.02)
        await screen.opened()
        await screen.shows("✦ first answer")
        await screen.say("two")
        # The recorded answers begin anew with the new session.
        await screen.shows("> two")
        for _ in range(400):
            if screen.text.count("✦ first answer") == 2:
                break
            await screen.pilot.pause(0.02)
        assert "one" in screen.sent
        assert "two" in screen.sent


async def test_the_stored_key_is_forgotten(terminal: Open, folders: Path) -> None:
    keys = ApiKeyStore(folders / "home")
    keys.save("stored", VirtualClock())

    async with terminal() as screen:
        await screen.opened()
        await screen.say("/auth")
        await screen.shows("● 2. Use Gemini API Key")
        await screen.pilot.press("enter")
        await screen.shows("Ctrl+L to clear stored key")
        await screen.pilot.press("ctrl+l")
        await screen.shows("Paste your API key here")
        await screen.pilot.press("escape")

    assert keys.load() is None


async def test_signing_out_leads_to_a_choice(terminal: Open, folders: Path) -> None:
    (folders / SETTINGS).parent.mkdir()
    (folders / SETTINGS).write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')

    async with terminal() as screen:
        await screen.opened()
        await screen.say("/auth signout")
        await screen.shows("You are now signed out")
        assert "selectedType" not in str(stored(folders))
        await screen.pilot.press("enter")
        await screen.shows("How would you like to authenticate")
        await screen.type("2")
        await screen.shows("Enter Gemini API Key")
        await screen.pilot.press("enter")
        await screen.hides("Enter Gemini API Key")
        await screen.opened()
        await screen.say("/auth logout")
        await screen.shows("You are now signed out")
        await screen.pilot.press("escape")
        await screen.pilot.pause(0.2)


# ------------------------------------------------------------------ background commands


async def test_background_commands_are_listed_shown_and_ended(
    terminal: Open, folders: Path
) -> None:
    command = "echo started; sleep 1; echo later; sleep 60"
    call = calls("run_shell_command", command=command, is_background=True)

    async with terminal(call, says("it runs"), approval_mode="yolo") as screen:
        await screen.say("/tasks")
        await screen.shows("No background tasks are currently active.")
        await screen.say("start it")
        await screen.shows("✦ it runs")
        await screen.say("/bg")
        await screen.shows("Close (Ctrl+B) | Kill (Ctrl+K) | List (Ctrl+L)")
        await screen.shows("started")
        await screen.shows("later")
        assert "Log: " in screen.text
        await screen.pilot.press("ctrl+l")
        await screen.shows("Select Process (Enter to select, Ctrl+K to kill, Esc to cancel):")
        await screen.pilot.press("enter")
        await screen.shows("Close (Ctrl+B)")
        await screen.pilot.press("ctrl+k")
        await screen.shows("(Exit Code: ")
        await screen.pilot.press("ctrl+b")
        await screen.hides("Close (Ctrl+B)")
        await screen.pilot.press("ctrl+b")
        await screen.shows("No background tasks are currently active.")


# ------------------------------------------------------------------ agents, hooks, folders


async def test_an_agent_is_configured(terminal: Open, folders: Path) -> None:
    agents = folders / "home/.gemini/agents"
    agents.mkdir(parents=True)
    (agents / "helper.md").write_text("---\nname: helper\ndescription: Helps.\n---\nYou help.\n")

    async with terminal() as screen:
        await screen.say("/agents config helper")
        await screen.shows("Configure: helper")
        await screen.pilot.press("down", "down", "enter", "backspace")
        await screen.type("0.5")
        await screen.pilot.press("enter")
        await screen.shows("Changes saved automatically.")
        await screen.pilot.press("up", "up", "enter")
        await screen.shows("false*")
        await screen.pilot.press("escape")
        await screen.hides("Configure: helper")
        await screen.say("/agents list")
        text = await screen.shows("Local Agents")
        assert "helper" not in text.partition("Local Agents")[2]

    override = stored(folders)["agents"]["overrides"]["helper"]
    assert override["enabled"] is False
    assert override["modelConfig"]["generateContentConfig"]["temperature"] == 0.5


async def test_the_hooks_of_the_session_are_shown(terminal: Open, folders: Path) -> None:
    hook = {"type": "command", "name": "note", "command": "true", "timeout": 5000}
    (folders / SETTINGS).parent.mkdir()
    (folders / SETTINGS).write_text(
        json.dumps({"hooks": {"BeforeTool": [{"matcher": "write_.*", "hooks": [hook]}]}})
    )

    async with terminal() as screen:
        await screen.say("/hooks")
        text = await screen.shows("Security Warning:")
        assert "BeforeTool" in text
        assert "note [enabled]" in text
        assert "Command: true | Matcher: write_.* | Timeout: 5s" in text
        await screen.pilot.press("escape")
        await screen.say("/hooks disable note")
        await screen.shows('Hook "note" disabled by adding it to the disabled list')
        await screen.say("/hooks list")
        await screen.shows("note [disabled]")
        await screen.pilot.press("enter")
        await screen.hides("Security Warning:")


@pytest.mark.parametrize(
    ("key", "said", "added"),
    [
        ("1", "Successfully added directories:", True),
        ("2", "Successfully added directories:", True),
        ("3", "were not added because they were not trusted", False),
        ("escape", "Operation cancelled. The following directories were not added", False),
    ],
)
async def test_the_trust_of_a_new_folder_is_asked(
    terminal: Open, folders: Path, key: str, said: str, *, added: bool
) -> None:
    (folders / "other").mkdir()
    (folders / "other/GEMINI.md").write_text("Mind the other folder.")

    async with terminal(says("noted")) as screen:
        await screen.say("/directory add ../other/")
        await screen.shows("Do you trust the following folders being added to this workspace?")
        await screen.pilot.press(key)
        await screen.shows(said)
        await screen.say("go on")
        await screen.shows("✦ noted")
        await screen.say("/memory list")
        text = await screen.shows("GEMINI.md files in use" if not added else "in use:")
        assert ("other/GEMINI.md" in text) is added
        assert (str(folders / "other") in screen.sent) is added

    file = folders / "home/.gemini/trustedFolders.json"
    assert file.exists() is (key == "2")


# ------------------------------------------------------------------ vim


async def test_vim_edits_the_prompt(terminal: Open, folders: Path) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.opened()
        await screen.say("/vim")
        await screen.shows("Entered Vim mode. Run /vim again to exit.")
        await screen.shows("[INSERT]")
        await screen.shows("Press 'Esc' for NORMAL mode.")
        await screen.type("helo world")
        await screen.pilot.press("escape")
        await screen.shows("[NORMAL]")
        await screen.type("0llifirst")
        await screen.shows("[INSERT]")
        await screen.pilot.press("escape")
        await screen.type("u")
        await screen.shows("> helo world")
        await screen.type("0wD")
        await screen.shows("> helo")
        await screen.type("Athere")
        await screen.pilot.press("enter")
        await screen.shows("✦ an answer")
        assert "helo there" in screen.sent
        await screen.pilot.press("escape")
        await screen.shows("Press 'i' for INSERT mode.")
        await screen.type("!?")
        assert not screen.app.query_one("#shortcuts").display
        await screen.type("i/vim")
        await screen.pilot.press("enter")
        await screen.shows("Exited Vim mode.")
        await screen.hides("[INSERT]")

    assert stored(folders)["general"]["vimMode"] is False


async def test_vim_is_on_where_the_settings_say_so(terminal: Open, folders: Path) -> None:
    (folders / SETTINGS).parent.mkdir()
    (folders / SETTINGS).write_text('{"general": {"vimMode": true}}')
    app = unsigned(fake_responses=None)

    async with app.run_test(size=(120, 50)) as pilot:
        screen = Terminal(pilot)
        await screen.shows("[INSERT]")
        await screen.type("one")
        await pilot.press("escape", "d", "d")
        await screen.shows("Press 'i' for INSERT mode.")
        await pilot.press("ctrl+q")
