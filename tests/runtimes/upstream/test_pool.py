"""Which sessions share a driver, and when one is ended."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.replay.runner import observe_cassette, run_cassette
from runtimes.upstream import pool
from services.clock import virtual_loop
from tests.processes import ends
from tests.runtimes.upstream.stand_ins import REPOSITORY, cassette, drive_with

pytestmark = pytest.mark.usefixtures("nothing_left")


class Counted:
    """What the statistics have gained since this was made."""

    def __init__(self) -> None:
        self._before = self._now()

    def _now(self) -> tuple[int, int, int]:
        counts = pool.statistics
        return counts.sessions, counts.started, counts.retired

    def __eq__(self, other: object) -> bool:
        return tuple(n - b for n, b in zip(self._now(), self._before, strict=True)) == other

    __hash__ = None  # type: ignore[assignment]


def run(runtime: str = "upstream") -> None:
    assert run_cassette(cassette(), runtime, deadline_s=20).error is None


def idle() -> list[int]:
    return [process.pid for process in pool._idle]


def test_a_driver_serves_one_session_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    drive_with(monkeypatch, "works")
    counted = Counted()

    run()
    first = idle()
    run()

    assert idle() == first
    assert counted == (2, 1, 0)


@pytest.mark.parametrize("behaviour", ["dirty", "no_json"])
def test_a_driver_with_leftovers_is_retired(
    monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    drive_with(monkeypatch, behaviour)
    counted = Counted()

    run_cassette(cassette(), "upstream", deadline_s=20)

    assert idle() == []
    assert counted == (1, 1, 1)


def test_one_whose_run_was_cut_off_is_retired(monkeypatch: pytest.MonkeyPatch) -> None:
    drive_with(monkeypatch, "silent")
    counted = Counted()

    run_cassette(cassette(), "upstream", deadline_s=1)

    assert idle() == []
    assert counted == (1, 1, 1)


def test_a_driver_that_uses_too_much_memory_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    drive_with(monkeypatch, "grown")

    run()

    assert idle() == []


def test_a_driver_that_has_served_enough_sessions_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_SESSIONS_AT_MOST", 2)
    drive_with(monkeypatch, "works")

    run()
    assert len(idle()) == 1
    run()

    assert idle() == []


def test_a_driver_that_died_while_idle_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    drive_with(monkeypatch, "works")
    run()
    (dead,) = idle()
    os.kill(dead, signal.SIGKILL)
    os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)

    run()

    (now,) = idle()
    assert now != dead


def test_versions_do_not_share_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    drive_with(monkeypatch, "works")
    run("upstream")
    (first,) = idle()

    run("upstream@0.1.0")

    assert [process.version for process in pool._idle] == ["0.61.0", "0.1.0"]
    run("upstream@0.61.0")
    assert set(idle()) > {first}
    assert len(idle()) == 2


def test_no_more_wait_than_are_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_IDLE_AT_MOST", 1)
    drive_with(monkeypatch, "works")
    counted = Counted()

    async def at_once() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(observe_cassette(cassette(), "upstream", deadline_s=20))

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(at_once())

    assert len(idle()) == 1
    assert counted == (3, 3, 0)


@pytest.mark.parametrize("leaves", ["", "os._exit(0)", "os.kill(os.getpid(), 9)"])
@pytest.mark.slow
def test_the_end_of_python_is_the_end_of_its_drivers(leaves: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from harness.replay.runner import run_cassette\n"
        "from runtimes.upstream import pool\n"
        "from tests.runtimes.upstream.stand_ins import *\n"
        "with pytest.MonkeyPatch.context() as patch:\n"
        "    drive_with(patch, 'works')\n"
        "    assert run_cassette(cassette(), 'upstream').error is None\n"
        "print(pool._idle[0].pid, flush=True)\n"
        f"{leaves}\n"
    )

    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )

    assert done.stderr == ""
    assert ends(int(done.stdout))


@pytest.mark.parametrize("as_worker", [False, True], ids=["process", "worker"])
@pytest.mark.sampled(2)
def test_leaving_ends_the_drivers_that_wait(as_worker: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import atexit, multiprocessing.util\n"
        "from harness.replay.runner import run_cassette\n"
        "from runtimes.upstream import pool\n"
        "from tests.runtimes.upstream.stand_ins import *\n"
        "def show():\n"
        "    print(pool.statistics.started, len(pool._idle), children(), flush=True)\n"
        "def work():\n"
        "    if multiprocessing.parent_process() is None:\n"
        "        atexit.register(show)  # before the pool's own, so it is called after that\n"
        "    else:\n"
        "        multiprocessing.util.Finalize(None, show, exitpriority=1)\n"
        "    with pytest.MonkeyPatch.context() as patch:\n"
        "        drive_with(patch, 'works')\n"
        "        assert run_cassette(cassette(), 'upstream').error is None\n"
        "if __name__ == '__main__':\n"
        f"    if {as_worker}:\n"
        "        worker = multiprocessing.get_context('fork').Process(target=work)\n"
        "        worker.start()\n"
        "        worker.join()\n"
        "    else:\n"
        "        work()\n"
    )

    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )

    assert (done.stdout, done.stderr) == ("1 0 set()\n", "")
