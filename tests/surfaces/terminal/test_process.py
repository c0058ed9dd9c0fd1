"""`parity agent` in a real pseudo-terminal."""

import os
import sys
from pathlib import Path

import pytest

from tests.surfaces.terminal.conftest import calls, says

pexpect = pytest.importorskip("pexpect")

COMMAND = ["-c", "from parity_entry.command import main; main()", "agent", "-m", "gemini-2.5-flash"]


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_task_from_the_prompt_to_the_exit(folders: Path, runtime: str) -> None:
    answers = folders / "answers.jsonl"
    script = [calls("write_file", file_path="new.txt", content="one\n"), says("finished it")]
    answers.write_text("".join(f"{line}\n" for line in script))
    words = [*COMMAND, "--runtime", runtime, "--fake-responses", str(answers)]
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"}
    child = pexpect.spawn(
        sys.executable, words, env=environment, dimensions=(50, 120), timeout=60, encoding="utf-8"
    )
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
