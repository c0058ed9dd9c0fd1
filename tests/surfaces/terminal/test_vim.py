"""Vim's keys, on a field without a screen."""

from __future__ import annotations

import pytest

from surfaces.terminal.vim.buffer import Buffer
from surfaces.terminal.vim.keys import Mode, VimKeys

NAMES = {"<esc>": "escape", "<left>": "left", "<down>": "down", "<tab>": "tab"}


class Field:
    """A text with a cursor, which is `|` in what the tests write."""

    def __init__(self, marked: str) -> None:
        before, _, after = marked.partition("|")
        rows = before.split("\n")
        self.buffer = Buffer(tuple((before + after).split("\n")), len(rows) - 1, len(rows[-1]))
        self._before: list[Buffer] = []

    def read(self) -> Buffer:
        return self.buffer

    def write(self, buffer: Buffer) -> None:
        if buffer.lines != self.buffer.lines:
            self._before.append(self.buffer)
        self.buffer = buffer

    def undo(self) -> None:
        self.buffer = self._before.pop()

    @property
    def marked(self) -> str:
        buffer = self.buffer
        line = f"{buffer.line[: buffer.col]}|{buffer.line[buffer.col :]}"
        return "\n".join((*buffer.lines[: buffer.row], line, *buffer.lines[buffer.row + 1 :]))


def pressed(marked: str, keys: str) -> tuple[str, Mode]:
    """The text and the mode after `keys`; the first key leads to the normal mode."""
    field = Field(marked)
    changes: list[None] = []
    vim = VimKeys(field, lambda: changes.append(None))
    vim.press("escape", "\x1b", 0)
    field.buffer = Field(marked).buffer
    while keys:
        name = next((each for each in NAMES if keys.startswith(each)), keys[0])
        keys = keys.removeprefix(name)
        vim.press(NAMES.get(name, name), None if name in NAMES else name, 9)
    return field.marked, vim.mode


MOVES = {
    "h": ("ab|c", "a|bc"),
    "h goes to the line before": ("ab\n|cd", "a|b\ncd"),
    "l": ("a|bc", "ab|c"),
    "l goes to the next line": ("a|b\ncd", "ab\n|cd"),
    "j": ("ab|c\nde", "abc\nd|e"),
    "k": ("abc\nde|f\n", "ab|c\ndef\n"),
    "<left>": ("ab|c", "a|bc"),
    "<down>": ("|a\nb", "a\n|b"),
    "2j": ("|a\nb\nc", "a\nb\n|c"),
    "w": ("|foo bar", "foo |bar"),
    "w stops at marks": ("|foo.bar", "foo|.bar"),
    "w stops at another script": ("|foo文字", "foo|文字"),
    "w goes to the next line": ("foo |bar\n  baz", "foo bar\n  |baz"),
    "w goes to an empty line": ("fo|o\n", "foo\n|"),
    "W": ("|foo.bar baz", "foo.bar |baz"),
    "3w": ("|a b c d", "a b c |d"),
    "b": ("foo ba|r", "foo |bar"),
    "b goes to the line before": ("foo bar\n|x", "foo |bar\nx"),
    "B": ("foo.bar| x", "|foo.bar x"),
    "e": ("|foo bar", "fo|o bar"),
    "e goes on at the end": ("fo|o bar", "foo ba|r"),
    "E": ("|foo.bar baz", "foo.ba|r baz"),
    "0": ("  ab|c", "|  abc"),
    "^": ("  ab|c", "  |abc"),
    "$": ("a|bc", "ab|c"),
    "2$": ("a|bc\ndef", "abc\nde|f"),
    "gg": ("a\nb\n|c", "|a\nb\nc"),
    "2gg": ("a\nb\n|c", "a\n|b\nc"),
    "G": ("|a\nb\nc", "a\nb\n|c"),
    "2G": ("|a\nb\nc", "a\n|b\nc"),
    "gx does nothing": ("a\nb\n|c", "a\nb\n|c"),
    "fb": ("|abab", "a|bab"),
    "2fb": ("|abab", "aba|b"),
    "tb": ("|aabab", "a|abab"),
    "Fa": ("abab|c", "ab|abc"),
    "Ta": ("abac|c", "aba|cc"),
    "fz": ("|abc", "|abc"),
    "fa;": ("|xaya", "xay|a"),
    "fa;,": ("|xaya", "x|aya"),
}


@pytest.mark.parametrize("keys", MOVES)
def test_a_motion_moves_the_cursor(keys: str) -> None:
    before, after = MOVES[keys]

    assert pressed(before, keys.split(" ")[0]) == (after, Mode.NORMAL)


EDITS = {
    "x": ("a|bc", "a|c"),
    "x at the end": ("ab|c", "a|b"),
    "9x": ("a|bc", "|a"),
    "X": ("ab|c", "a|c"),
    "~": ("|aBc", "A|Bc"),
    "3~": ("|aBc", "Ab|C"),
    "rz": ("|abc", "|zbc"),
    "2rz": ("|abc", "z|zc"),
    "dw": ("|foo bar", "|bar"),
    "2dw": ("|a b c", "|c"),
    "d2w": ("|a b c", "|c"),
    "dw at the last word": ("foo |bar", "foo| "),
    "dW": ("|foo.x bar", "|bar"),
    "de": ("|foo bar", "| bar"),
    "db": ("foo ba|r", "foo |r"),
    "dB": ("a.b|c", "|c"),
    "dE": ("|a.b c", "| c"),
    "dd": ("a\n|b\nc", "a\n|c"),
    "2dd": ("|a\nb\nc", "|c"),
    "dd of the only line": ("a|b", "|"),
    "dj": ("|a\nb\nc", "|c"),
    "dk": ("a\nb|\nc", "|c"),
    "dh": ("a|b", "|b"),
    "dl": ("|ab", "|b"),
    "d0": ("ab|c", "|c"),
    "d^": ("  ab|c", "  |c"),
    "d$": ("a|bc", "|a"),
    "D": ("a|bc", "|a"),
    "dgg": ("a\nb\n|c\nd", "|d"),
    "dG": ("a\n|b\nc", "|a"),
    "dfb": ("|aabc", "|c"),
    "dtb": ("|aabc", "|bc"),
    "dFa": ("a|bc", "|c"),
    "dTa": ("abb|c", "|a"),
    "dfz": ("|abc", "|abc"),
    "dz does nothing": ("|abc", "|abc"),
    "d<esc>x": ("|abc", "|bc"),
    "xp": ("|abc", "b|ac"),
    "xP": ("|abc", "|abc"),
    "x2p": ("|abc", "ba|ac"),
    "ddp": ("|a\nb", "b\n|a"),
    "ddP": ("a\n|b\nc", "a\n|b\nc"),
    "yyp": ("|a\nb", "a\n|a\nb"),
    "ywP": ("|ab c", "ab| ab c"),
    "y$p": ("|ab", "aa|bb"),
    "Yp": ("|ab", "aa|bb"),
    "p without anything": ("|ab", "|ab"),
    "dwu": ("|foo bar", "|foo bar"),
    "xxu": ("|abc", "|bc"),
    "xx2u": ("|abc", "|abc"),
    "dw.": ("|a b c", "|c"),
    "x2.": ("|abcd", "|d"),
    "dfb.": ("|abab!", "|!"),
    "~.": ("|ab", "A|B"),
}


@pytest.mark.parametrize("keys", EDITS)
def test_a_command_edits_the_text(keys: str) -> None:
    before, after = EDITS[keys]

    assert pressed(before, keys.split(" ")[0]) == (after, Mode.NORMAL)


INSERTS = {
    "i": ("a|bc", "a|bc"),
    "a": ("a|bc", "ab|c"),
    "I": ("  a|b", "  |ab"),
    "A": ("a|b", "ab|"),
    "o": ("a|b\nc", "ab\n|\nc"),
    "O": ("a|b", "|\nab"),
    "cw": ("|foo bar", "|bar"),
    "cc": ("a|b\nc", "|\nc"),
    "cj": ("|a\nb\nc", "|\nc"),
    "C": ("a|bc", "a|"),
    "c0": ("ab|c", "|c"),
    "ctb": ("|aab", "|b"),
    "cgg": ("a\n|b\nc", "|\nc"),
}


@pytest.mark.parametrize("keys", INSERTS)
def test_a_command_leads_to_writing(keys: str) -> None:
    before, after = INSERTS[keys]

    assert pressed(before, keys) == (after, Mode.INSERT)


def test_escape_goes_one_letter_back_and_other_keys_are_not_taken() -> None:
    field = Field("ab|")
    vim = VimKeys(field, lambda: None)

    assert not vim.press("x", "x", 0)
    assert vim.press("escape", "\x1b", 1)
    assert (field.marked, vim.mode) == ("a|b", Mode.NORMAL)
    assert not vim.press("escape", "\x1b", 2)
    assert not vim.press("tab", "\t", 2)
    assert not vim.press("enter", "\r", 2)
    assert vim.press("q", "q", 2)


def test_escape_twice_at_once_clears_the_text() -> None:
    field = Field("ab|")
    vim = VimKeys(field, lambda: None)

    for at in (0, 0.6, 2):
        vim.press("escape", "\x1b", at)
    assert field.marked == "a|b"
    vim.press("escape", "\x1b", 2.4)
    assert field.marked == "|"
    assert vim.mode is Mode.NORMAL
