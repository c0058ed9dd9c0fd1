import io
import re
import shlex

import pytest

from harness.screen import Screen
from harness.wrapping import wrapped

COMMAND = "  reproduce: parity run 'my corpus/a.yaml' --control legacy --candidate adk --trust"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_that_fits_stays_as_it_is() -> None:
    assert wrapped("a  b", 20) == ["a  b"]


def test_what_follows_hangs_below_the_first_line() -> None:
    assert wrapped("  events[4]: legacy emitted what adk did not", 24) == [
        "  events[4]: legacy",
        "      emitted what adk",
        "      did not",
    ]


def test_no_word_is_broken_and_no_space_within_a_line_is_lost() -> None:
    text = "family   name  " + "x" * 30 + " end"

    assert wrapped(text, 20) == ["family   name", f"    {'x' * 30}", "    end"]


def test_a_command_can_be_copied_from_the_screen() -> None:
    lines = wrapped(COMMAND, 40)

    assert all(len(line) <= 40 for line in lines)
    assert all(line.endswith(" \\") for line in lines[:-1])
    shown = "\n".join(lines).partition("reproduce: ")[2]
    assert shlex.split(shown.replace("\\\n", "")) == shlex.split(COMMAND.partition(": ")[2])


def test_a_screen_breaks_a_command_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream = _Terminal()
    Screen(stream).print(COMMAND)

    assert stream.getvalue().splitlines() == wrapped(COMMAND, 40)


def test_a_text_before_a_command_is_no_part_of_it() -> None:
    lines = wrapped(f"one two three four five six seven: {COMMAND.strip()}", 40)

    assert lines[0] == "one two three four five six seven:"


@pytest.mark.parametrize("text", ["日本語 " * 10, "e\u0301 " * 30])
def test_columns_are_counted_as_a_terminal_shows_them(text: str) -> None:
    lines = wrapped(text.strip(), 20)

    assert len(lines) == 5 if "日" in text else len(lines) == 4


def test_no_line_becomes_a_command_to_a_build_server() -> None:
    assert wrapped("a text that goes on ::error::x", 24)[1] == "    \\::error::x"


def test_a_report_is_wrapped_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal, log = _Terminal(), io.StringIO()
    for stream in (terminal, log):
        Screen(stream).print(r"a [b]text\[0] " + "that goes on " * 4, style="red")

    plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()
    assert plain[0].startswith("a text[0] that")
    assert [line[:4] for line in plain[1:]] == ["    "] * (len(plain) - 1)
    assert all(len(line) <= 40 for line in plain)
    assert len(log.getvalue().splitlines()) == 1
