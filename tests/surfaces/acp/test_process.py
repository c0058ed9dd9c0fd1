"""`parity agent --acp` as an editor starts it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.headless.conftest import calls, says, write_answers

COMMAND = ["-c", "from parity_entry.command import main; main()", "agent", "--acp"]


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_standard_output_has_messages_alone(folders: Path, runtime: str) -> None:
    noisy = "echo on standard output >/proc/$PPID/fd/1; echo shown"
    answers = write_answers(
        folders / "answers.jsonl", calls("run_shell_command", command=noisy), says("finished")
    )
    words = [*COMMAND, "-y", "-m", "gemini-2.5-flash", "--runtime", runtime]
    process = subprocess.Popen(
        [sys.executable, *words, "--fake-responses", str(answers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    found = []

    def answer_to(number: int, method: str, **params: object) -> dict[str, object]:
        assert process.stdin is not None
        assert process.stdout is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        while True:
            found.append(json.loads(process.stdout.readline()))
            if found[-1].get("id") == number and "method" not in found[-1]:
                answer: dict[str, object] = found[-1]["result"]
                return answer

    answer_to(1, "initialize", protocolVersion=1)
    opened = answer_to(2, "session/new", cwd=str(folders / "ws"), mcpServers=[])
    prompt = [{"type": "text", "text": "go"}]
    done = answer_to(3, "session/prompt", sessionId=opened["sessionId"], prompt=prompt)
    rest, errors = process.communicate(timeout=60)

    assert done["stopReason"] == "end_turn"
    assert rest == ""
    assert process.returncode == 0
    assert "on standard output" in errors
    assert "Traceback" not in errors
