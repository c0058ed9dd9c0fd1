"""`parity agent --acp` as an editor starts it."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.surfaces.headless.conftest import calls, says, write_answers

COMMAND = ["-c", "from parity_entry.command import main; main()", "agent", "--acp"]


class Editor:
    """The client of a process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.found: list[dict[str, object]] = []

    def answer_to(self, number: int, method: str, **params: object) -> dict[str, object]:
        """The result of a request; all messages before it are kept."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            self.found.append(json.loads(self.process.stdout.readline()))
            if self.found[-1].get("id") == number and "method" not in self.found[-1]:
                answer = self.found[-1]["result"]
                assert isinstance(answer, dict)
                return answer


@contextmanager
def started(*words: str) -> Iterator[Editor]:
    with subprocess.Popen(
        [sys.executable, *COMMAND, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield Editor(process)


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_standard_output_has_messages_alone(folders: Path, runtime: str) -> None:
    noisy = "echo on standard output >/proc/$PPID/fd/1; echo shown"
    answers = write_answers(
        folders / "answers.jsonl", calls("run_shell_command", command=noisy), says("finished")
    )
    words = ["-y", "-m", "gemini-2.5-flash", "--runtime", runtime, "--fake-responses", str(answers)]
    with started(*words) as editor:
        editor.answer_to(1, "initialize", protocolVersion=1)
        opened = editor.answer_to(2, "session/new", cwd=str(folders / "ws"), mcpServers=[])
        prompt = [{"type": "text", "text": "go"}]
        done = editor.answer_to(3, "session/prompt", sessionId=opened["sessionId"], prompt=prompt)
        rest, errors = editor.process.communicate(timeout=60)

    assert done["stopReason"] == "end_turn"
    assert rest == ""
    assert editor.process.returncode == 0
    assert "on standard output" in errors
    assert "Traceback" not in errors


def test_an_editor_that_ends_the_process_with_its_input_open_sees_no_crash(folders: Path) -> None:
    answers = write_answers(folders / "answers.jsonl", says("never"))
    with started("--fake-responses", str(answers)) as editor:
        editor.answer_to(1, "initialize", protocolVersion=1)
        editor.answer_to(2, "session/new", cwd=str(folders / "ws"), mcpServers=[])
        editor.process.send_signal(signal.SIGTERM)
        code = editor.process.wait(timeout=60)
        assert editor.process.stderr is not None
        errors = editor.process.stderr.read()

    assert (code, errors) == (0, "")
