"""The terminal as plain lines: for screen readers, and for terminals without a cursor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surfaces.terminal.plain import _new_lines
from tests.surfaces.terminal.conftest import Open, Terminal, calls, says
from tests.surfaces.terminal.test_process import started

pexpect = pytest.importorskip("pexpect")

ONE = pytest.mark.parametrize("terminal", [pytest.param("legacy", id="legacy")], indirect=True)
WRITE = {"file_path": "new.txt", "content": "one\ntwo\n"}


class Heard:
    """What was written, as lines."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, piece: str) -> None:
        self.text += piece

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.split("\n") if line.strip() not in ("", ">")]

    async def has(self, screen: Terminal, words: str) -> None:
        """Wait until `words` were written."""
        for _ in range(400):
            if words in self.text:
                return
            await screen.pilot.pause(0.02)
        raise AssertionError(f"{words!r} was not written:\n{self.text}")


async def test_a_task_is_a_sequence_of_lines(terminal: Open) -> None:
    heard = Heard()
    answer = "# Title\n\ndone it\n\nand more"
    async with terminal(calls("write_file", **WRITE), says(answer), plain=heard) as screen:
        await screen.opened()
        await screen.say("do it")
        await heard.has(screen, "1. Allow once")
        await screen.pilot.press("down")
        await heard.has(screen, "● 2. Allow for this session")
        await screen.pilot.press("1")
        await heard.has(screen, "and more")

    said = heard.lines
    wanted = [
        "User: do it",
        "Tool call: WriteFile new.txt",
        "Apply this change?",
        "● 1. Allow once",
        "2. Allow for this session",
        "● 2. Allow for this session",
        "Tool call, done: WriteFile new.txt → Accepted (+2, -0)",
        "add: one",
        "add: two",
        "Model: # Title",
        "done it",
        "and more",
    ]
    places = [said.index(line) for line in wanted]
    assert places == sorted(places)
    # Its digit highlights the first option once more before it is chosen.
    repeated = [line for line in wanted if said.count(line) != 1 and line != "● 1. Allow once"]
    assert repeated == []
    assert "\x1b" not in heard.text
    assert not any(sign in heard.text for sign in "│╭╰─⠋✦")


@ONE
async def test_the_input_is_echoed_as_it_is_typed(terminal: Open) -> None:
    heard = Heard()
    async with terminal(plain=heard) as screen:
        await screen.opened()
        await screen.type("hallo")
        await screen.pilot.press("backspace", "backspace")
        await heard.has(screen, "\b \b")
        before = len(heard.text)
        await screen.pilot.press("home", "x")
        await heard.has(screen, "> xhal")

    assert "> hallo" in heard.text[:before].replace("\b \b", "")
    assert heard.text[:before].count("\b \b") == 2


@ONE
async def test_suggestions_modes_and_hints_are_said(terminal: Open) -> None:
    heard = Heard()
    async with terminal(plain=heard) as screen:
        await screen.opened()
        await screen.type("/mcp")
        await heard.has(screen, "Suggestion 1 of ")
        await screen.pilot.press("ctrl+c")
        await heard.has(screen, "Press Ctrl+C again to exit.")
        await screen.pilot.press("shift+tab")
        await heard.has(screen, "auto-accept edits")
        await screen.pilot.press("question_mark")
        await heard.has(screen, "Ctrl+R - Search the prompt history")


@ONE
async def test_a_cleared_conversation_begins_anew(terminal: Open) -> None:
    heard = Heard()
    async with terminal(says("one"), says("two"), plain=heard) as screen:
        await screen.opened()
        await screen.say("first")
        await heard.has(screen, "Model: one")
        await screen.say("/clear")
        await screen.say("second")
        await heard.has(screen, "Model: two")
    assert heard.text.count("Model: one") == 1


def test_of_a_changed_dialog_only_the_new_lines_are_said() -> None:
    before = ("Which?", "● 1. One", "2. Two")
    assert list(_new_lines((), before)) == list(before)
    assert list(_new_lines(before, ("Which?", "1. One", "● 2. Two"))) == ["● 2. Two"]


@pytest.mark.parametrize(
    ("how", "options", "variables"),
    [
        ("flag", ["--screen-reader"], {}),
        pytest.param("setting", [], {}, marks=pytest.mark.slow),
        pytest.param("no cursor", [], {"TERM": "dumb"}, marks=pytest.mark.slow),
    ],
)
def test_the_flag_the_setting_and_the_terminal_choose_it(
    folders: Path, how: str, options: list[str], variables: dict[str, str]
) -> None:
    if how == "setting":
        file = folders / "home" / ".gemini" / "settings.json"
        file.parent.mkdir()
        file.write_text(json.dumps({"ui": {"accessibility": {"screenReader": True}}}))
    child = started(folders, "legacy", [says("the answer")], *options, variables=variables)
    try:
        child.expect("> ")
        nudged = "screen reader-friendly view" in child.before
        child.send("hello\r")
        child.expect("Model: the answer\r\n")
        child.send("\x03\x03")
        child.expect(pexpect.EOF)
        seen = child.before
    finally:
        child.close(force=True)
    assert child.exitstatus == 0
    assert nudged == (how != "no cursor")
    assert "\r\nAgent powering down. Goodbye!" in seen
    assert "\x1b" not in seen
