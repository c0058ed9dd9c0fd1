"""`parity agent --a2a` as a process: its end, and what stands after it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.surfaces.a2a.serving import COMMAND, started
from tests.surfaces.headless.conftest import calls, says, write_answers

CHILD = f"sleep 6{os.getpid()}"
"""What the tool of a task starts. No other process has the same words."""


def running(words: str) -> list[str]:
    """The processes whose command lines begin with `words`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if line.startswith(words):
                found.append(line)
    return found


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
    slow = calls("run_shell_command", command=f"({CHILD} & wait)", description="d")
    answers = write_answers(folders / "answers.jsonl", slow, says("done"))
    return ["--runtime", runtime, "--fake-responses", str(answers)]


def test_sigterm_ends_the_turn_and_the_process(folders: Path, words: list[str]) -> None:
    with started(folders, *words) as (process, http):
        events = until_running(http)
        task = next(events)["taskId"]
        while not running(CHILD):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        last = list(events)[-1]

        assert process.wait(30) == 0
        assert last["final"] is True
        text = last["status"]["message"]["parts"][0]["text"]
        assert text.startswith("The server is shutting down.")
        assert running(CHILD) == []
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
