"""A terminal of 40 columns and 24 rows: every dialog, the footer and the menus stay usable."""

from __future__ import annotations

import pytest

from tests.surfaces.terminal.conftest import Open, Terminal, calls, says

NARROW = (40, 24)
ONE = pytest.mark.parametrize("terminal", [pytest.param("legacy", id="legacy")], indirect=True)
QUESTION = {
    "question": "Which one of these do you want to have?",
    "header": "Pick",
    "type": "choice",
    "options": [
        {"label": "Alpha", "description": "the first of all these many options"},
        {"label": "Beta", "description": "the second"},
    ],
}
COMMAND = "cat one.txt | sort > out.txt && echo a long command line"
DIALOGS = {
    "/model": ("● 2. Manual", "(Press Esc to close)"),
    "/settings": ("● Vim Mode", "● User Settings", "close)"),
    "/theme": ("● 1. ", "Workspace Settings", "focus, Esc to close)"),
    "/editor": ("●  1. None", "Workspace Settings", "focus, Esc to close)"),
    "/permissions trust": ("3. Don't trust", "(Use Enter to select)"),
    "/resume": ("Index │ Msgs", "Quit: q"),
    "/rewind": ("● Stay at current position", "expand/collapse)"),
}


def assert_fits(screen: Terminal) -> None:
    """No line is longer than the terminal, and the footer is the last one."""
    lines = screen.text.split("\n")
    assert len(lines) == NARROW[1]
    assert max(map(len, lines)) <= NARROW[0]
    assert "gemini-2.5-flash" in lines[-1]


@ONE
async def test_the_questions_about_calls(terminal: Open) -> None:
    script = [
        calls("run_shell_command", command=COMMAND, description="does it"),
        calls("ask_user", questions=[QUESTION]),
        says("the answer"),
    ]
    async with terminal(*script, size=NARROW) as screen:
        await screen.opened()
        await screen.say("a long prompt that wraps over the line")
        await screen.shows("3. No, suggest changes (esc)")
        assert "● 1. Allow once" in screen.text
        assert_fits(screen)
        await screen.pilot.press("1")
        await screen.shows("3. Enter a custom value")
        assert "● 1. Alpha" in screen.text
        assert "Esc to cancel" in screen.text
        assert_fits(screen)
        await screen.pilot.press("1")
        await screen.shows("✦ the answer")
        await screen.shows("100% left")
        assert_fits(screen)


@ONE
async def test_the_dialogs_of_commands(terminal: Open) -> None:
    async with terminal(says("ok"), size=NARROW) as screen:
        await screen.opened()
        await screen.say("hi")
        await screen.shows("✦ ok")
        for command, wanted in DIALOGS.items():
            await screen.say(command)
            text = await screen.shows(wanted[0])
            assert [words for words in wanted if words not in text] == [], command
            assert_fits(screen)
            await screen.pilot.press("escape")
            await screen.shows("Type your message")


@ONE
async def test_the_menu_has_one_line_for_each_command(terminal: Open) -> None:
    async with terminal(size=NARROW) as screen:
        await screen.opened()
        await screen.type("/")
        text = await screen.shows("● about")
        lines = text.split("\n")
        first = next(number for number, line in enumerate(lines) if line.startswith("● about"))
        assert all(line[:2] == "  " for line in lines[first + 1 : first + 8])
        assert_fits(screen)
        await screen.pilot.resize_terminal(30, 24)
        await screen.pilot.pause()
        assert max(map(len, screen.text.split("\n"))) <= 30


@ONE
async def test_a_hint_has_the_line_for_itself(terminal: Open) -> None:
    async with terminal(size=NARROW) as screen:
        await screen.opened()
        await screen.pilot.press("ctrl+c")
        await screen.shows("Press Ctrl+C again to exit.")
