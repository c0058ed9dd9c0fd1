"""One worker or several: what is seen of them from outside."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.samples import write_corpus
from tests.processes import ends

REPOSITORY = Path(__file__).parents[3]
RUN = """
import sys
from dataclasses import replace
from harness.cli import parity
from tests.security.watched_bombs import WATCHED
from tests.harness.samples import BACKEND

if __name__ == "__main__":
    plain = replace(BACKEND, limits=WATCHED.limits)
    parity(obj=WATCHED if sys.argv.pop(1) == "bombs" else plain)
"""


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    (folder / "start.py").write_text(RUN)
    return subprocess.Popen(
        [sys.executable, folder / "start.py", *words],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.sampled(2)
def test_what_a_worker_logs_is_shown_with_debug(tmp_path: Path, jobs: str) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="crashes", a__2="plain")

    _, said = start(tmp_path, "plain", "--debug", "run", str(corpus), "-n", jobs).communicate()

    assert "the harness failed on a/1" in said
    assert "no such wheel" in said


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.sampled(6)
def test_no_worker_outlives_a_parent_that_is_ended_and_none_prints_a_traceback(
    tmp_path: Path, number: signal.Signals, jobs: str
) -> None:
    meeting = tmp_path / "meeting"
    os.mkfifo(meeting)
    text = f"waits at {meeting}"
    corpus = write_corpus(tmp_path / "corpus", a__1=text, a__2="plain", a__3="plain")
    with start(tmp_path, "plain", "run", str(corpus), "-n", jobs) as process:
        assert meeting.read_text() == "waiting"

        process.send_signal(number)
        # Ends when no process holds the pipes any more.
        _, said = process.communicate()

    assert "Traceback" not in said
    assert "resource_tracker" not in said
    assert "Exception ignored" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a process with its parent")
@pytest.mark.slow
def test_a_worker_that_holds_its_lock_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="spins in a pattern")
    pids = corpus / "a" / "1.pids"
    os.mkfifo(pids)
    with start(tmp_path, "bombs", "run", str(corpus)) as process:
        worker = pids.read_text().strip()

        process.kill()
        process.communicate()

        assert ends(worker)
