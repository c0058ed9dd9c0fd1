"""Resuming sessions in the terminal, in both runtimes."""

import json
from pathlib import Path

from tests.surfaces.terminal.conftest import Open, calls, says


def _chats(folders: Path) -> list[Path]:
    return sorted((folders / "home").glob(".gemini/tmp/*/chats/session-*"))


async def _record(terminal: Open, *prompts: str) -> None:
    """Hold a session whose answers are `answer to` and the prompt."""
    async with terminal(*(says(f"answer to {prompt}") for prompt in prompts)) as screen:
        for prompt in prompts:
            await screen.say(prompt)
            await screen.shows(f"✦ answer to {prompt}")


async def test_a_resumed_session_shows_its_conversation_and_goes_on(terminal: Open) -> None:
    await _record(terminal, "apples")

    async with terminal(says("more")) as screen:
        await screen.opened()
        assert "apples" not in screen.text

    async with terminal(says("and on"), resume="latest") as screen:
        text = await screen.shows("✦ answer to apples")
        assert text.index("> apples") < text.index("✦ answer to apples")
        await screen.say("pears")
        await screen.shows("✦ and on")
        sent = screen.sent

    assert sent.index("apples") < sent.index("pears")


async def test_the_browser_resumes_a_session_in_place_of_the_open_one(terminal: Open) -> None:
    await _record(terminal, "apples", "pears")

    async with terminal(says("of today"), says("and on")) as screen:
        await screen.say("plums")
        await screen.shows("✦ of today")
        await screen.say("/resume")
        text = await screen.shows("Chat Sessions (2 total)")
        assert "sorted by date desc" in text
        assert "plums (current)" in text
        await screen.pilot.press("enter")
        await screen.pilot.press("down", "enter")
        await screen.shows("✦ answer to pears")
        text = await screen.hides("of today")
        await screen.opened()
        await screen.say("cherries")
        await screen.shows("✦ and on")
        sent = screen.sent

    assert "> apples" in text
    assert "plums" not in sent
    assert sent.index("pears") < sent.index("cherries")

    async with terminal() as screen:
        await screen.say("/resume")
        text = await screen.shows("Chat Sessions (2 total)")
        assert "pears" not in text  # The title is the first message.
        assert "apples" in text


async def test_the_search_finds_words_of_answers(terminal: Open) -> None:
    await _record(terminal, "apples")
    await _record(terminal, "pears")

    async with terminal() as screen:
        await screen.say("/resume")
        await screen.shows("Chat Sessions (2 total)")
        await screen.pilot.press("slash")
        await screen.type("to pears")
        text = await screen.shows("Chat Sessions (1 total, filtered)")
        assert "…rs answer to pears" in text
        await screen.pilot.press("escape")
        await screen.shows("Chat Sessions (2 total)")
        await screen.pilot.press("slash", "z", "z")
        await screen.shows("No sessions found matching 'zz'.")
        await screen.pilot.press("escape", "q")
        await screen.hides("Chat Sessions")


async def test_sessions_are_sorted_and_deleted(terminal: Open, folders: Path) -> None:
    await _record(terminal, "apples", "cherries")
    await _record(terminal, "pears")

    async with terminal() as screen:
        await screen.say("/chat")
        text = await screen.shows("sorted by date desc")
        assert text.index("pears") < text.index("apples")
        await screen.pilot.press("s")
        text = await screen.shows("sorted by messages desc")
        assert text.index("apples") < text.index("pears")
        await screen.pilot.press("s", "r")
        text = await screen.shows("sorted by name asc")
        await screen.pilot.press("G", "x")
        text = await screen.shows("Chat Sessions (1 total)")
        await screen.pilot.press("x")
        await screen.shows("No auto-saved conversations found.")
        await screen.pilot.press("q")
        await screen.hides("No auto-saved")

    assert not any("answer to" in file.read_text() for file in _chats(folders))


async def test_without_sessions_the_browser_says_so(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.say("/resume")
        await screen.shows("Press q to exit")
        await screen.pilot.press("escape")
        await screen.hides("Press q to exit")


async def test_a_recording_that_is_gone_leaves_the_open_session(
    terminal: Open, folders: Path
) -> None:
    await _record(terminal, "apples")

    async with terminal(says("an answer")) as screen:
        await screen.say("/resume")
        await screen.shows("Chat Sessions (1 total)")
        for file in _chats(folders):
            if "apples" in file.read_text():
                file.unlink()
        await screen.pilot.press("enter")
        await screen.shows("✕ Error resuming session")
        await screen.say("go")
        await screen.shows("✦ an answer")


async def test_calls_of_a_resumed_session_do_not_run_again(terminal: Open, folders: Path) -> None:
    async with terminal(
        calls("write_file", file_path="a.txt", content="x"), says("written")
    ) as screen:
        await screen.say("write")
        await screen.shows("Apply this change?")
        await screen.pilot.press("1")
        await screen.shows("✦ written")
    (folders / "ws" / "a.txt").unlink()

    async with terminal(resume="latest") as screen:
        await screen.shows("✦ written")

    assert not (folders / "ws" / "a.txt").exists()


async def test_the_folders_of_a_resumed_session_are_there_again(
    terminal: Open, folders: Path
) -> None:
    other, gone = folders / "other", folders / "gone"
    for folder in (other, gone):
        folder.mkdir()
    trust = {str(other): "TRUST_FOLDER", str(gone): "TRUST_FOLDER"}
    (folders / "home/.gemini").mkdir()
    (folders / "home/.gemini/trustedFolders.json").write_text(json.dumps(trust))
    async with terminal(says("first")) as screen:
        await screen.say("one")
        await screen.shows("✦ first")
        await screen.say("/directory add ../other/,../gone/")
        await screen.shows("Successfully added directories:")
    gone.rmdir()

    async with terminal(says("second"), resume="latest") as screen:
        await screen.opened()
        assert screen.session.services.workspace.folders == (folders / "ws", other)
