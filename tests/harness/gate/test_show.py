"""Lines of the gate's answer: wrapped where a terminal ends, and commands that can be copied."""

import io

import pytest

from harness.gate.show import Lines


def shown(width: int, monkeypatch: pytest.MonkeyPatch, *, command: str = "", line: str = "") -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    stream = io.StringIO()
    out = Lines(stream)
    if command:
        out.command(command)
    else:
        out.line(line)
    return stream.getvalue()


def test_a_command_goes_on_below_so_that_it_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "parity run cassettes --control 'my legacy' --candidate adk --journal out/leg.jsonl"

    text = shown(44, monkeypatch, command=command)

    assert text.splitlines() == [
        "  parity run cassettes \\",
        "      --control 'my legacy' \\",
        "      --candidate adk \\",
        "      --journal out/leg.jsonl",
    ]


def test_a_line_hangs_two_further_in_than_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(40, monkeypatch, line="    leg missing: no journal compares legacy with adk")

    assert text.splitlines() == [
        "    leg missing: no journal compares",
        "      legacy with adk",
    ]


def test_what_has_no_spaces_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(40, monkeypatch, line="x" * 90) == "x" * 90 + "\n"


def test_a_pipe_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()

    Lines(stream).line("word " * 50)

    assert len(stream.getvalue().splitlines()) == 1
