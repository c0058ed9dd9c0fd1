"""A driver, or the program that drives it, killed in the middle: reported, and nothing is left."""

import logging
import os
import random
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from harness.replay.runner import run_cassette
from runtimes.upstream import pool
from runtimes.upstream.connection import Connection
from tests.processes import ends
from tests.runtimes.upstream.stand_ins import (
    REPOSITORY,
    calls,
    cassette,
    children,
    needs_core,
    running,
)

pytestmark = [needs_core, pytest.mark.usefixtures("nothing_left")]

RUNS = int(os.environ.get("PARITY_KILLS", "6"))
BUSY = {"error": {"status": 503, "message": "busy", "grpc": "UNAVAILABLE"}}


def busy_cassette(mark: str) -> Any:
    """Retries, files, a command, and a process that it leaves in the background."""
    return cassette(
        script=[{"send": "x"}, {"send": "y"}],
        model=[
            BUSY,
            calls("write_file", file_path="a.txt", content="a"),
            calls("run_shell_command", command=f"sleep {mark} > /dev/null 2>&1 & sleep 0.01"),
            calls("read_file", file_path="a.txt"),
            {"text": "done"},
            {"text": "and again"},
        ],
        unused=list(range(6)),
    )


def kill_at(monkeypatch: pytest.MonkeyPatch, message: int) -> list[int]:
    """Kill the driver after this many messages; the list gets its process id."""
    killed: list[int] = []
    parsed = Connection._parsed
    count = 0

    def counting(connection: Connection, line: bytes) -> Any:
        nonlocal count
        count += 1
        if count == message:
            killed.append(connection._process.pid)
            os.kill(connection._process.pid, signal.SIGKILL)
        return parsed(connection, line)

    monkeypatch.setattr(Connection, "_parsed", counting)
    return killed


@pytest.mark.slow
def test_a_driver_killed_at_any_point_is_reported_and_leaves_nothing() -> None:
    before = children()
    figures: dict[str, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        never = kill_at(patch, -1)
        seen = run_cassette(busy_cassette("86400.5"), "upstream", deadline_s=60)
        assert (seen.error, never) == (None, [])
    chance = random.Random(3)
    for run in range(RUNS):
        mark = f"86400.{os.getpid()}{run}"
        with pytest.MonkeyPatch.context() as patch:
            killed = kill_at(patch, chance.randint(1, 75))
            seen = run_cassette(busy_cassette(mark), "upstream", deadline_s=60)
        if killed:
            outcome = "in time" if seen.error is None else "reported"
            assert killed[0] not in children()
            if seen.error is not None:
                assert "was killed by SIGKILL" in str(seen.blocker)
        else:
            outcome = "not killed"
            assert seen.error is None
        figures[outcome] = figures.get(outcome, 0) + 1
        assert all(ends(pid) for pid in running(f"sleep\0{mark}"))
    logging.getLogger(__name__).info("of %s runs: %s", RUNS, figures)
    pool.close_idle()
    assert children() == before
    assert figures.get("reported", 0) > 0


class Meeting:
    """The file to which a command writes its process id."""

    def __init__(self, folder: Path) -> None:
        self.pipe = folder / "started"
        os.mkfifo(self.pipe)
        self.command = f"echo $$ > '{self.pipe}'; exec sleep 86400"

    def pid(self) -> int:
        return int(self.pipe.read_text())


def is_noted(driver: int, command: int) -> bool:
    """Whether `driver` has noted that it started `command`, which leads a group."""
    for file in Path(f"/proc/{driver}/fd").iterdir():
        if file.is_file() and (-command,) in struct.iter_unpack("<i", noted(file)):
            return True
    return False


def noted(file: Path) -> bytes:
    data = file.read_bytes()[: 1 << 12]
    return data[: len(data) // 4 * 4]


@pytest.mark.slow
def test_the_command_of_a_killed_driver_is_ended(tmp_path: Path) -> None:
    meeting = Meeting(tmp_path)
    met: list[int] = []
    before = children()

    def kill() -> None:
        met.append(meeting.pid())
        (driver,) = children() - before
        while not is_noted(driver, met[0]):
            os.sched_yield()
        os.kill(driver, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    step = calls("run_shell_command", command=meeting.command)
    seen = run_cassette(cassette(model=[step, {"text": "x"}]), "upstream", deadline_s=60)
    killer.join()

    assert "was killed by SIGKILL" in str(seen.blocker)
    assert ends(met[0])


CASE = """\
cassette: 1
name: a/1
session: {{model: gemini-2.5-flash, approval_mode: yolo}}
script: [{{send: x}}]
model:
- stream:
  - candidates:
    - content:
        role: model
        parts: [{{functionCall: {{name: run_shell_command, args: {{command: "{command}"}}}}}}]
      finishReason: STOP
- text: done
"""


@pytest.mark.parametrize(
    ("how", "code"),
    [
        (signal.SIGKILL, -signal.SIGKILL),
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGINT, 130),
    ],
)
@pytest.mark.sampled(3)
def test_the_end_of_parity_is_the_end_of_driver_and_command(
    tmp_path: Path, how: signal.Signals, code: int
) -> None:
    meeting = Meeting(tmp_path)
    corpus = tmp_path / "corpus"
    (corpus / "a").mkdir(parents=True)
    (corpus / "a/1.yaml").write_text(CASE.format(command=meeting.command))
    words = [
        "trace",
        str(corpus),
        "--trust",
        "--runtime",
        "upstream",
        "--out",
        str(tmp_path / "out"),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as parity:
        try:
            command = meeting.pid()
            tasks = Path(f"/proc/{parity.pid}/task").iterdir()
            drivers = [
                int(pid) for task in tasks for pid in (task / "children").read_text().split()
            ]
            parity.send_signal(how)
            _, errors = parity.communicate()
        finally:
            parity.kill()

    assert parity.returncode == code
    assert "Traceback" not in errors
    assert drivers
    assert [pid for pid in (command, *drivers) if not ends(pid)] == []
