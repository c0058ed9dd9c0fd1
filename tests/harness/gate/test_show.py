"""Lines of the gate's answer: commands that can be copied, and lines that a pipe gets whole."""

import io
import re

import pytest

from harness.gate.show import Lines

COMMAND = "parity run cassettes --control 'my legacy' --candidate adk --journal out/leg.jsonl"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_command_goes_on_below_so_that_it_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()

    Lines(stream).command(COMMAND)

    first, *others = re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue()).splitlines()
    assert first == "  parity run cassettes --control \\"
    assert all(line.startswith("      ") for line in others)
    assert all(line.endswith(" \\") for line in others[:-1])


def test_a_pipe_gets_whole_lines() -> None:
    stream = io.StringIO()

    Lines(stream).command(COMMAND)
    Lines(stream).line("word " * 50)

    assert len(stream.getvalue().splitlines()) == 2
