"""Slash commands in the terminal, in both runtimes."""

from pathlib import Path

import pytest

from tests.surfaces.terminal.conftest import Open, Terminal, calls, says

WRITE = {"file_path": "new.txt", "content": "one\ntwo\n"}


async def test_a_command_is_answered_and_not_sent(terminal: Open) -> None:
    async with terminal(says("the only answer")) as screen:
        await screen.say("/about")
        await screen.shows("Runtime")
        await screen.say("go")
        text = await screen.shows("✦ the only answer")

    assert text.index("> /about") < text.index("> go")


async def test_an_unknown_command_is_an_error(terminal: Open) -> None:
    async with terminal(says("never")) as screen:
        await screen.say("/nosuch")
        text = await screen.shows("Unknown command: /nosuch")

    assert "never" not in text


async def test_a_command_that_is_not_built_is_one_line(terminal: Open) -> None:
    async with terminal(says("never")) as screen:
        await screen.say("/voice")
        text = await screen.shows("✕ /voice is not built: dictation is not supported.")

    assert "never" not in text


async def test_a_path_is_a_prompt(terminal: Open) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.say("/usr/bin/env is what?")
        await screen.shows("✦ an answer")


async def test_clear_empties_the_screen(terminal: Open) -> None:
    async with terminal(says("first answer"), says("second answer")) as screen:
        await screen.say("go")
        await screen.shows("✦ first answer")
        await screen.say("/clear")
        await screen.say("on")
        text = await screen.shows("✦ second answer")

    assert "first answer" not in text


async def test_the_menu_completes_names_and_subcommands(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.opened()
        await screen.type("/abo")
        await screen.shows("● about")
        await screen.pilot.press("tab")
        await screen.shows("> /about")
        await screen.pilot.press("ctrl+c")
        await screen.type("/stats mo")
        await screen.shows("● model")
        await screen.pilot.press("tab", "enter")
        await screen.shows("> /stats model")
        text = await screen.shows("No API calls have been made in this session.")

    assert "Unknown" not in text


async def test_the_arrows_choose_in_the_menu(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.opened()
        await screen.type("/co")
        first = next(line for line in (await screen.shows("● ")).splitlines() if "● " in line)
        await screen.pilot.press("down")
        await screen.pilot.pause()
        second = next(line for line in screen.text.splitlines() if "● " in line)

    assert first != second


async def test_enter_accepts_the_chosen_command_and_runs_it(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.opened()
        await screen.type("/abo")
        await screen.shows("● about")
        await screen.pilot.press("enter")
        await screen.shows("About parity")


async def test_escape_closes_the_menu_and_leaves_the_text(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.opened()
        await screen.type("/abo")
        await screen.shows("● about")
        await screen.pilot.press("escape")
        await screen.hides("● about")
        assert "> /abo" in screen.text


async def test_quit_leaves(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.say("/quit")
        await screen.app.workers.wait_for_complete()

        assert screen.app.return_value == 0


@pytest.mark.parametrize(("words", "left"), [("/quit", True), ("/quit --delete", False)])
async def test_quit_deletes_the_recording_if_asked(
    terminal: Open, folders: Path, words: str, left: bool
) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.say("go")
        await screen.shows("✦ an answer")
        await screen.say(words)
        await screen.app.workers.wait_for_complete()

    assert bool(list(folders.rglob("chats/*.json*"))) is left


async def test_about_runs_while_the_agent_works_and_mcp_waits(terminal: Open) -> None:
    async with terminal(calls("write_file", **WRITE), says("done")) as screen:
        await screen.say("go")
        await screen.shows("Apply this change?")
        screen.view.turns.submit("/mcp")
        screen.view.turns.submit("/about")
        early = await screen.shows("> /about")
        await screen.pilot.press("1")
        await screen.shows("✦ done")
        await screen.shows("> /mcp")

    assert "> /mcp" not in early


async def test_double_escape_rewinds_the_conversation(terminal: Open, folders: Path) -> None:
    script = [calls("write_file", **WRITE), says("done")]
    async with terminal(*script, approval_mode="yolo") as screen:
        await screen.say("write it")
        await screen.shows("✦ done")
        await screen.pilot.press("escape")
        await screen.shows("Press Esc again to rewind.")
        await screen.pilot.press("escape")
        points = await screen.shows("● Stay at current position")
        await screen.pilot.press("up", "up")
        await screen.shows("● write it")
        await screen.pilot.press("enter")
        choices = await screen.shows("Confirm Rewind")
        await screen.pilot.press("1")
        text = await _drafted(screen)

    assert "1 file changed +2" in points
    assert "File: new.txt" in choices
    assert "Lines added: 2 Lines removed: 0 (just now)" in choices
    assert "1. Rewind conversation and revert code changes" in choices
    assert "✦ done" not in text
    assert not (folders / "ws/new.txt").exists()


async def test_doing_nothing_leads_back_to_the_messages(terminal: Open) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.say("go")
        await screen.shows("✦ an answer")
        await screen.say("/rewind")
        await screen.shows("● Stay at current position")
        await screen.pilot.press("up", "enter")
        choices = await screen.shows("Confirm Rewind")
        await screen.pilot.press("2")
        await screen.shows("● Stay at current position")
        await screen.pilot.press("enter")
        text = await screen.shows("Type your message")

    assert "No code changes to revert." in choices
    assert "✦ an answer" in text


async def test_the_context_of_the_session_is_no_draft(terminal: Open) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.say("go")
        await screen.shows("✦ an answer")
        await screen.say("/rewind")
        await screen.shows("● Stay at current position")
        await screen.pilot.press("up", "up", "enter")
        await screen.shows("Confirm Rewind")
        await screen.pilot.press("1")
        text = await screen.hides("✦ an answer")

    assert "Type your message" in text
    assert "session_context" not in text


async def _drafted(screen: Terminal) -> str:
    await screen.shows("write it")
    for _ in range(400):
        if "✦ done" not in screen.text and "Confirm Rewind" not in screen.text:
            return screen.text
        await screen.pilot.pause(0.02)
    raise AssertionError(screen.text)


def command_file(folders: Path, prompt: str) -> None:
    file = folders / "home/.gemini/commands/ours.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"prompt = '''{prompt}'''\n")


async def test_a_command_file_is_a_prompt(terminal: Open, folders: Path) -> None:
    command_file(folders, "say {{args}}")
    async with terminal(says("an answer")) as screen:
        await screen.say("/ours hello")
        text = await screen.shows("✦ an answer")

    assert "> /ours hello" in text


@pytest.mark.parametrize(("key", "runs"), [("1", True), ("2", True), ("escape", False)])
async def test_shell_commands_of_a_command_file_are_confirmed(
    terminal: Open, folders: Path, key: str, runs: bool
) -> None:
    command_file(folders, "say !{touch made.txt}")
    async with terminal(says("an answer")) as screen:
        await screen.say("/ours")
        dialog = await screen.shows("Do you want to proceed?")
        await screen.pilot.press(key)
        await screen.shows("✦ an answer" if runs else "Slash command shell execution declined.")

    assert "touch made.txt" in dialog
    assert (folders / "ws/made.txt").exists() is runs


async def test_right_and_left_expand_and_collapse_a_message(terminal: Open) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.type("one")
        for line in ("two", "three"):
            await screen.pilot.press("ctrl+j")
            await screen.type(line)
        await screen.pilot.press("enter")
        await screen.shows("✦ an answer")
        await screen.say("/rewind")
        await screen.shows("Right/Left to expand/collapse")
        await screen.pilot.press("up")
        await screen.shows("two...")
        await screen.pilot.press("right")
        text = await screen.hides("two...")
        assert "three" in text.split("> Rewind")[1]
        await screen.pilot.press("left")
        await screen.shows("two...")


async def test_the_list_of_rewind_shows_every_message_that_has_room(terminal: Open) -> None:
    prompts = ["one", "two", "three", "four", "five", "six"]
    async with terminal(*(says(f"to {each}") for each in prompts)) as screen:
        for each in prompts:
            await screen.say(each)
            await screen.shows(f"✦ to {each}")
        await screen.say("/rewind")
        text = await screen.shows("Stay at current position")

    listed = text.split("> Rewind")[1]
    assert [each for each in prompts if each not in listed] == []
