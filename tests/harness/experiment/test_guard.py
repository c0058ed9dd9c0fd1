import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.experiment import guard_process
from harness.experiment.guard import guarded
from services.leftovers import child_started, folder_made
from tests.harness.experiment.started import a_tree

REPOSITORY = Path(__file__).parents[3]
LINGERING = "sleep 60 & setsid sleep 60 & sleep 60"
LEADER_GONE = "sleep 60 & echo"
ELSEWHERE = f"cd /; {LEADER_GONE}"

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="needs /proc to see what is left of a session"
)

HERE = """
import os, signal, sys
from harness.experiment.guard import guarded
from tests.harness.experiment import started

if __name__ == "__main__":
    with guarded():
        getattr(started, sys.argv[1])((sys.argv[2], sys.argv[3]))
"""

WORKERS = """
import sys
from harness.experiment.events import CaseFinished
from harness.experiment.pool import process_workers, run_on
from tests.harness.experiment import started
from tests.harness.samples import BACKEND

if __name__ == "__main__":
    function, tasks = getattr(started, sys.argv[1]), [tuple(sys.argv[2:])]
    workers = process_workers(BACKEND, [])
    events = run_on(workers, function, tasks, 1, died=lambda task, died: died)
    print([type(each.result).__name__ for each in events if isinstance(each, CaseFinished)])
"""


def output_when_all_are_gone(folder: Path, script: str, *words: str) -> str:
    """The output of a script; returns when all processes that it started have ended."""
    (folder / "start.py").write_text(script)
    done = subprocess.run(
        [sys.executable, folder / "start.py", *words],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("a_tree_and_die", LINGERING),
        ("a_tree_and_die", LEADER_GONE),
        ("a_tree_and_die", ELSEWHERE),
        ("unannounced_tree_and_die", LINGERING),
        ("unannounced_tree_and_die", LEADER_GONE),
    ],
)
def test_what_a_killed_process_had_started_is_ended(
    tmp_path: Path, function: str, words: str
) -> None:
    run = tmp_path / "run"

    # Returns at all, which it does not while anybody lives.
    output_when_all_are_gone(tmp_path, HERE, function, str(run), words)


def test_what_a_killed_worker_had_started_is_ended(tmp_path: Path) -> None:
    run = tmp_path / "run"

    output = output_when_all_are_gone(tmp_path, WORKERS, "a_tree_and_die", str(run), LINGERING)

    assert "WorkerDied" in output


def test_what_is_left_at_the_end_is_ended_then_and_its_folder_removed(tmp_path: Path) -> None:
    run = tmp_path / "run"

    with guarded():
        child = a_tree(str(run), "sleep 60")

    assert child.wait() == -9
    assert not run.exists()


def test_no_shell_goes_on_with_its_next_command_while_its_session_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = guard_process._targets
    monkeypatch.setattr(
        guard_process, "_targets", lambda *given: sorted(targets(*given), reverse=True)
    )
    run = tmp_path / "run"
    os.mkfifo(tmp_path / "begun")
    shell = "(echo > ../begun; sleep 60; : > ../went_on_{})"
    waiting = " & ".join(shell.format(number) for number in range(40))
    child = a_tree(str(run), f"{waiting} & wait; : > ../went_on")
    with (tmp_path / "begun").open("r+b", buffering=0) as begun:
        for _ in range(40):
            begun.read(1)

    guard_process.end_all({child.pid: guard_process._begun(child.pid)}, [])

    assert child.wait() == -9
    assert not list(tmp_path.glob("went_on*"))


def test_without_a_guard_leftovers_are_not_announced() -> None:
    with guarded():
        pass
    child_started(1)
    folder_made("/")


def test_nothing_is_started_for_runs_that_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **kwargs: started.append(args))

    with guarded():
        pass

    assert started == []


def test_a_number_that_somebody_else_has_by_now_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        guard_process.end_all({other.pid: "begun at another time"}, [])
        still_there = other.poll() is None
        guard_process.end_all({other.pid: guard_process._begun(other.pid)}, [])

    assert still_there
    assert other.returncode == -9


def test_processes_elsewhere_are_left_alone(tmp_path: Path) -> None:
    mine, similar = tmp_path / "run", tmp_path / "run-2"
    for folder in (mine, similar):
        folder.mkdir()
    with subprocess.Popen(["sleep", "60"], cwd=similar) as other:
        guard_process.end_all({}, [str(mine)])
        still_there = other.poll() is None
        other.kill()

    assert still_there
