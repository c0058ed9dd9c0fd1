"""`parity agent` in a real pseudo-terminal."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.terminal.conftest import calls, says

pexpect = pytest.importorskip("pexpect")

COMMAND = ["-c", "from parity_entry.command import main; main()"]


def started(
    folders: Path,
    runtime: str,
    script: list[str],
    *options: str,
    variables: Mapping[str, str] | None = None,
    dimensions: tuple[int, int] = (50, 120),
    name: str = "agent",
) -> Any:
    """A terminal of 50 rows and 120 columns whose model gives the answers of `script`."""
    answers = folders / "answers.jsonl"
    answers.write_text("".join(f"{line}\n" for line in script))
    words = [*COMMAND, name, "-m", "gemini-2.5-flash", "--runtime", runtime]
    words += ["--fake-responses", str(answers), *options]
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1", **(variables or {})}
    return pexpect.spawn(
        sys.executable,
        words,
        env=environment,
        dimensions=dimensions,
        timeout=60,
        encoding="utf-8",
        codec_errors="replace",
    )


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_task_from_the_prompt_to_the_exit(folders: Path, runtime: str) -> None:
    script = [calls("write_file", file_path="new.txt", content="one\n"), says("finished it")]
    child = started(folders, runtime, script)
    try:
        child.expect("Type your message")
        child.send("do it\r")
        child.expect("Allow once")
        child.send("1")
        child.expect("finished it")
        child.send("\x03")
        child.expect("Press Ctrl.C again to exit")
        child.send("\x03")
        child.expect(pexpect.EOF)
    finally:
        child.close()

    assert child.exitstatus == 0
    # The terminal is left as it was: the alternate screen is closed, the cursor is back.
    assert "\x1b[?1049l" in child.before
    assert (folders / "ws/new.txt").read_text() == "one\n"


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_whole_session(folders: Path, runtime: str) -> None:
    """An edit is confirmed, a hint is typed, a turn is taken back; the rest is resumed later."""
    settings = folders / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"experimental": {"modelSteering": true}}')
    pipe = folders / "ws" / "pipe"
    os.mkfifo(pipe)
    script = [
        calls("write_file", file_path="new.txt", content="one\n"),
        says("made it"),
        calls("run_shell_command", command="cat pipe", description="waits"),
        says("checked it"),
    ]
    child = started(folders, runtime, script)
    try:
        child.expect("Type your message")
        child.send("make it\r")
        child.expect("Allow once")
        child.send("1")
        child.expect("made it")
        child.send("check it\r")
        child.expect("cat pipe")
        child.send("be quick\r")
        child.expect("Steering Hint: be quick")
        pipe.write_text("piped\n")  # Waits for the command, which waits for this.
        child.expect("checked it")
        child.send("/rewind\r")
        child.expect("Stay at current position")
        child.send("\x1b[A\r")
        child.expect("Confirm Rewind")
        child.send("1")
        child.expect("> .*check it")  # The message is in the input again.
        child.send("\x03")
        child.expect("Press Ctrl.C again to exit")
        child.send("\x03")
        child.expect(pexpect.EOF)
    finally:
        child.close()
    assert child.exitstatus == 0

    child = started(folders, runtime, [says("went on")], "--resume", "latest")
    try:
        child.expect("Type your message")
        child.expect("made it")
        child.send("go on\r")
        child.expect("went on")
        assert "checked it" not in child.before
        child.send("/quit\r")
        child.expect(pexpect.EOF)
    finally:
        child.close()
    assert child.exitstatus == 0
    (recording,) = (
        file
        for file in (folders / "home").glob(".gemini/tmp/*/chats/session-*")
        if "went on" in file.read_text()
    )
    assert "be quick" in recording.read_text()
    assert (folders / "ws/new.txt").read_text() == "one\n"
