"""`parity agent` in a real pseudo-terminal that gets signals, or goes away."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.terminal.conftest import says
from tests.surfaces.terminal.test_process import started

pexpect = pytest.importorskip("pexpect")

CLOSED = "\x1b[?1049l"
"""The alternate screen is closed."""
CURSOR = "\x1b[?25h"


@pytest.fixture
def child(folders: Path) -> Any:
    """A session with one answer."""
    process = started(folders, "legacy", [says("the answer")])
    process.expect("Type your message")
    process.send("the question\r")
    process.expect("the answer")
    yield process
    process.close(force=True)


def recording(folders: Path) -> str:
    (file,) = (folders / "home").glob(".gemini/tmp/*/chats/session-*")
    return file.read_text()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SIGTERM", 0),
        pytest.param("SIGHUP", 0, marks=pytest.mark.slow),
        pytest.param("SIGINT", 130, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_the_session_and_restores_the_terminal(
    folders: Path, child: Any, name: str, code: int
) -> None:
    os.kill(child.pid, getattr(signal, name))
    child.expect(pexpect.EOF)
    child.close()

    assert (child.exitstatus, child.signalstatus) == (code, None)
    drawn, _, said = child.before.rpartition(CLOSED)
    assert drawn
    assert CURSOR in said
    assert "Agent powering down. Goodbye!" in said
    assert "To resume this session: parity agent --resume " in said
    assert f"The session was ended by {name}. It is recorded." in said
    assert "the question" in recording(folders)
    assert "the answer" in recording(folders)


def _stopped(child: Any) -> bool:
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    return os.WIFSTOPPED(status)


@pytest.mark.parametrize("keys", ["", pytest.param("\x1a", marks=pytest.mark.slow)])
def test_a_stopped_session_gives_the_terminal_back_and_goes_on(child: Any, keys: str) -> None:
    """By SIGTSTP, and by Ctrl+Z pressed twice."""
    if keys:
        child.send(keys)
        child.expect("Press Ctrl.Z again to suspend")
        child.send(keys)
    else:
        os.kill(child.pid, signal.SIGTSTP)
    assert _stopped(child)
    child.expect_exact(CLOSED)
    os.kill(child.pid, signal.SIGCONT)
    child.expect("the answer")  # The whole screen is drawn again.
    child.send("\x03")
    child.expect("Press Ctrl.C again to exit")
    child.send("\x03")
    child.expect(pexpect.EOF)
    child.close()

    assert child.exitstatus == 0


def test_a_terminal_that_goes_away_ends_the_session(folders: Path) -> None:
    child = started(folders, "legacy", [says("the answer")])
    child.expect("Type your message")
    child.send("the question\r")
    child.expect("the answer")
    child.ptyproc.fileobj.close()

    _, status = os.waitpid(child.pid, 0)
    child.ptyproc.closed = child.closed = True  # Nothing is left to close.
    assert os.waitstatus_to_exitcode(status) == 0
    assert "the answer" in recording(folders)


@pytest.mark.slow
def test_keys_that_are_no_utf_8_are_no_error(child: Any) -> None:
    os.write(child.child_fd, b"caf\xe9 au lait")
    child.expect("caf\N{REPLACEMENT CHARACTER} au lait")
    child.send("\x03")
    child.expect("Press Ctrl.C again to exit")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "wanted", "unwanted"),
    [
        ({"NO_COLOR": "1"}, "the answer", "\x1b[38"),
        ({"NO_COLOR": "", "TERM": "vt100"}, "the answer", "\x1b[38"),
        ({"PYTHONIOENCODING": "ascii"}, "\\* the answer", "✦"),
    ],
    ids=["no colours wanted", "no colours", "no Unicode"],
)
def test_a_terminal_with_fewer_abilities(
    folders: Path, variables: dict[str, str], wanted: str, unwanted: str
) -> None:
    process = started(folders, "legacy", [says("the answer")], variables=variables)
    try:
        process.expect("Type your message")
        assert unwanted not in process.before
        process.send("the question\r")
        process.expect(wanted)
        assert unwanted not in process.before
    finally:
        process.close(force=True)


@pytest.mark.slow
def test_a_terminal_without_a_size_is_taken_to_have_the_usual_one(folders: Path) -> None:
    process = started(folders, "legacy", [says("the answer")], dimensions=(0, 0))
    try:
        process.expect("Type your message")
        process.send("the question\r")
        process.expect("the answer")
    finally:
        process.close(force=True)
