"""The input of the terminal: its modes, its menu of paths, its history; in both runtimes."""

from pathlib import Path

import pytest

from tests.surfaces.terminal.conftest import Open, calls, says

WRITE = {"file_path": "new.txt", "content": "one\ntwo\n"}


async def test_marks_inside_of_a_text_are_characters(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.type("a?!")
        await screen.shows("> a?!")


async def test_a_question_mark_shows_the_shortcuts_until_the_user_writes(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.pilot.press("question_mark")
        text = await screen.shows("Ctrl+Y - Toggle YOLO mode")
        await screen.type("a")
        await screen.hides("Toggle YOLO mode")

    assert "Type your message" in text


async def test_shell_mode_runs_a_command_and_the_model_gets_its_output(
    terminal: Open, folders: Path
) -> None:
    (folders / "ws/a.txt").write_text("alpha\n")
    async with terminal(says("an answer")) as screen:
        await screen.opened()
        await screen.pilot.press("exclamation_mark")
        await screen.shows("shell mode enabled")
        await screen.type("cat a.txt")
        await screen.pilot.press("enter")
        shown = await screen.shows("alpha")
        await screen.pilot.press("escape")
        await screen.hides("shell mode enabled")
        await screen.say("go")
        await screen.shows("✦ an answer")
        sent = screen.sent

    assert "Shell Command cat a.txt" in shown
    assert "cat a.txt" in sent
    assert "alpha" in sent


async def test_a_shell_command_that_fails_shows_its_exit_code(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.opened()
        await screen.type("!exit 3")
        await screen.pilot.press("enter")
        text = await screen.shows("Command exited with code 3.")

    assert "x  Shell Command exit 3" in text


async def test_escape_ends_a_shell_command(terminal: Open, folders: Path) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.opened()
        await screen.type("!echo begun; sleep 60; touch late")
        await screen.pilot.press("enter")
        await screen.shows("│ begun")
        await screen.pilot.press("escape")
        await screen.shows("Command was cancelled.")
        await screen.pilot.press("backspace")
        await screen.say("go")
        await screen.shows("✦ an answer")

    assert not (folders / "ws/late").exists()


async def test_a_cleared_conversation_gets_no_output_from_before(terminal: Open) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.opened()
        await screen.type("!echo secret")
        await screen.pilot.press("enter")
        await screen.shows("│ secret")
        await screen.pilot.press("backspace")
        await screen.say("/clear")
        await screen.hides("secret")
        await screen.say("go")
        await screen.shows("✦ an answer")
        sent = screen.sent

    assert "secret" not in sent


async def test_a_path_is_completed_and_its_file_sent(terminal: Open, folders: Path) -> None:
    (folders / "ws/sub dir").mkdir()
    (folders / "ws/sub dir/note.txt").write_text("the content")
    (folders / "ws/hidden-note.txt").write_text("x")
    (folders / "ws/.geminiignore").write_text("hidden-note.txt\n")
    async with terminal(says("an answer")) as screen:
        await screen.opened()
        await screen.type("look at @note")
        menu = await screen.shows("● sub\\ dir/note.txt")
        await screen.pilot.press("enter")
        await screen.shows("> look at @sub\\ dir/note.txt")
        await screen.pilot.press("enter")
        await screen.shows("✦ an answer")
        sent = screen.sent

    assert "hidden-note" not in menu
    assert "the content" in sent


async def test_an_agent_and_a_folder_are_completed(terminal: Open, folders: Path) -> None:
    (folders / "ws/general").mkdir()
    (folders / "ws/general/a.txt").write_text("x")
    async with terminal() as screen:
        await screen.opened()
        await screen.type("@gener")
        menu = await screen.shows("● generalist")
        await screen.pilot.press("down", "tab")
        await screen.shows("● general/")
        await screen.shows("general/a.txt")

    assert menu.index("[Agent]") < menu.index("general/")


async def test_up_and_down_go_through_the_prompts(terminal: Open) -> None:
    async with terminal(says("first answer"), says("second answer")) as screen:
        for words, said in (("one", "✦ first answer"), ("two", "✦ second answer")):
            await screen.say(words)
            await screen.shows(said)
        await screen.type("dra")
        prompt = screen.app.focused
        seen = []
        for key in ("up", "up", "up", "down", "ctrl+n"):
            await screen.pilot.press(key)
            await screen.pilot.pause()
            seen.append(getattr(prompt, "text", None))

    assert seen == ["two", "one", "one", "two", "dra"]


async def test_up_takes_back_the_prompts_that_wait(terminal: Open) -> None:
    async with terminal(calls("write_file", **WRITE), says("done")) as screen:
        await screen.say("go")
        await screen.shows("Apply this change?")
        for words in ("later", "much later"):
            screen.view.turns.submit(words)
        taken = screen.view.turns.take_back()
        await screen.pilot.press("1")
        text = await screen.shows("✦ done")

    assert taken == "later\n\nmuch later"
    assert "> later" not in text


async def test_ctrl_l_clears_the_screen_and_keeps_the_conversation(terminal: Open) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.say("go")
        await screen.shows("✦ an answer")
        await screen.pilot.press("ctrl+l")
        await screen.hides("✦ an answer")
        sent = screen.sent

    assert "an answer" in sent


async def test_without_an_editor_a_prompt_and_a_question_stay_open(terminal: Open) -> None:
    async with terminal(calls("write_file", **WRITE), says("done")) as screen:
        await screen.type("go")
        await screen.pilot.press("ctrl+g")
        first = await screen.shows("No external editor is available.")
        await screen.pilot.press("enter")
        await screen.shows("Apply this change?")
        await screen.pilot.press("3")
        await screen.shows("> Select Editor")
        await screen.pilot.press("escape")
        await screen.hides("> Select Editor")
        await screen.shows("4. No, suggest changes (esc)")
        await screen.pilot.press("1")
        await screen.shows("✦ done")

    assert "> go" in first


async def test_ctrl_g_writes_the_prompt_in_the_users_editor(
    terminal: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with terminal(says("an answer")) as screen:

        async def edited(name: str, text: str) -> str:
            return f"{text} on\n"

        monkeypatch.setattr(screen.view.editor, "edit", edited)
        await screen.type("go")
        await screen.pilot.press("ctrl+g", "enter")
        await screen.shows("✦ an answer")
        await screen.shows("> go on")
