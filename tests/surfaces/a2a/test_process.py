"""`parity agent --a2a` as a process: its end, and what stands after it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.surfaces.headless.conftest import calls, says, write_answers

COMMAND = ["-c", "from parity_entry.command import main; main()", "agent", "--a2a"]


@contextmanager
def started(folders: Path, *words: str) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--port", "0", "-y", *words],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folders / "ws",
        env={**os.environ, "CODER_AGENT_ALLOWED_ROOT": str(folders)},
    )
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "the server has ended"
            found = re.search(r"listens on (http://\S+)", line)
        with httpx.Client(base_url=found[1], timeout=60) as http:
            yield process, http
    finally:
        process.kill()
        process.communicate()


def until_running(http: httpx.Client) -> Iterator[dict]:
    """The events of a task, from that at which its tool runs."""
    message = {
        "kind": "message",
        "role": "user",
        "messageId": "m",
        "parts": [{"kind": "text", "text": "go"}],
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": message}}
    with http.stream("POST", "/", json=body) as answer:
        runs = False
        for line in answer.iter_lines():
            if line.startswith("data: "):
                event = json.loads(line[6:])["result"]
                runs = runs or '"status":"executing"' in line
                if runs:
                    yield event


def status_of(http: httpx.Client, task: str) -> dict:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": task}}
    return http.post("/", json=body).json()["result"]["status"]


@pytest.fixture
def words(folders: Path, runtime: str) -> list[str]:
    slow = calls("run_shell_command", command="sleep 60", description="d")
    answers = write_answers(folders / "answers.jsonl", slow, says("done"))
    return ["--runtime", runtime, "--fake-responses", str(answers)]


def test_sigterm_ends_the_turn_and_the_process(folders: Path, words: list[str]) -> None:
    with started(folders, *words) as (process, http):
        events = until_running(http)
        task = next(events)["taskId"]
        process.send_signal(signal.SIGTERM)
        last = list(events)[-1]

        assert process.wait(30) == 0
        assert last["final"] is True
        text = last["status"]["message"]["parts"][0]["text"]
        assert text.startswith("The server is shutting down.")
    with started(folders, *words) as (_, http):
        assert status_of(http, task) == last["status"]


def test_a_killed_server_says_later_what_became_of_the_task(
    folders: Path, words: list[str]
) -> None:
    with started(folders, *words) as (process, http):
        events = until_running(http)
        task = next(events)["taskId"]
        process.kill()
        process.wait(30)
        with pytest.raises(httpx.HTTPError):
            list(events)
    with started(folders, *words) as (_, http):
        status = status_of(http, task)

        assert status["state"] == "input-required"
        text = status["message"]["parts"][0]["text"]
        assert text == "The server ended while it worked on the task. Send a message to go on."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--host", "0.0.0.0"], "PARITY_A2A_TOKEN"),
        (["--host", "256.1.1.1"], "PARITY_A2A_TOKEN"),
    ],
)
def test_other_machines_need_a_token(folders: Path, words: list[str], message: str) -> None:
    ran = subprocess.run(
        [sys.executable, *COMMAND, *words],
        capture_output=True,
        text=True,
        cwd=folders / "ws",
        timeout=60,
        check=False,
    )

    assert ran.returncode == 42
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_port_that_is_none_is_named(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODER_AGENT_PORT", "many")
    ran = subprocess.run(
        [sys.executable, *COMMAND],
        capture_output=True,
        text=True,
        cwd=folders / "ws",
        timeout=60,
        check=False,
    )

    assert ran.returncode == 42
    assert "CODER_AGENT_PORT is 'many'" in ran.stderr
