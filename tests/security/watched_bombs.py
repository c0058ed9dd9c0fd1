"""Cases that use up the machine. What a file's text says happens; its pid goes into a file beside.

Worker processes find these functions by name.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.experiment.announcing import case_begins
from harness.experiment.backend import Backend, LoadedCassette
from harness.experiment.limits import Limits
from harness.replay.observation import Observation
from services.leftovers import child_started, folder_made
from tests.harness import samples

CATASTROPHE = "import re; re.match('(a+)+$', 'a' * 40 + 'b')"


@dataclass(frozen=True)
class Bomb(samples.Facts):
    """A case, with the file that it came from."""

    file: Path = Path()

    @property
    def pids(self) -> Path:
        """Where each process that the case runs in writes its id, a line each."""
        return self.file.with_suffix(".pids")


def spins_in_a_pattern(bomb: Bomb) -> None:
    re.match("(a+)+$", "a" * 40 + "b")


def spins_in_python(bomb: Bomb) -> None:
    while True:
        pass


def allocates(bomb: Bomb) -> None:
    held = []
    while True:
        held.append(b"x" * (1 << 22))


def sleeps_deaf(bomb: Bomb) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    while True:
        time.sleep(100)


def starts_a_spinning_child(bomb: Bomb) -> None:
    """The child leads a session of its own, as a shell command does."""
    words = [sys.executable, "-c", f"import os; {_pid_into(bomb)}; {CATASTROPHE}"]
    with subprocess.Popen(words, start_new_session=True) as child:
        child_started(child.pid)
        child.wait()


def starts_a_child_that_allocates(bomb: Bomb) -> None:
    grow = "held = [b'x' * (1 << 22) for _ in iter(int, 1)]"
    with subprocess.Popen([sys.executable, "-c", f"import os; {_pid_into(bomb)}; {grow}"]) as child:
        child.wait()


def leaves_a_spinning_orphan(bomb: Bomb) -> None:
    """Its parent ends at once, so that nothing leads from the worker to it but its session."""
    orphan = f"import os; {_pid_into(bomb)}; {CATASTROPHE}"
    words = f"{shlex.join([sys.executable, '-c', orphan])} & read line"
    with subprocess.Popen(["sh", "-c", words], start_new_session=True, stdin=subprocess.PIPE) as sh:
        child_started(sh.pid)
        while not bomb.pids.exists() or len(bomb.pids.read_text().split()) < 2:
            time.sleep(0.01)
        sh.kill()
        sh.wait()
        sleeps_deaf(bomb)


def ends_its_guard_and_spins(bomb: Bomb) -> None:
    folder_made("/nowhere")
    for child in _children():
        os.kill(child, signal.SIGKILL)
    spins_in_a_pattern(bomb)


def exits(bomb: Bomb) -> None:
    os._exit(0)


def segfaults(bomb: Bomb) -> None:
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    ctypes.string_at(0)


BOMBS: dict[str, Callable[[Bomb], None]] = {
    bomb.__name__.replace("_", " "): bomb
    for bomb in (
        spins_in_a_pattern,
        spins_in_python,
        allocates,
        sleeps_deaf,
        starts_a_spinning_child,
        starts_a_child_that_allocates,
        leaves_a_spinning_orphan,
        ends_its_guard_and_spins,
        exits,
        segfaults,
    )
}


def _pid_into(bomb: Bomb) -> str:
    return f"print(os.getpid(), file=open({str(bomb.pids)!r}, 'a'))"


def _children() -> list[int]:
    return [
        int(pid)
        for thread in Path("/proc/self/task").iterdir()
        for pid in (thread / "children").read_text().split()
    ]


def load(file: Path, root: Path) -> LoadedCassette:
    """A case of that file."""
    return Bomb(name=file.relative_to(root).with_suffix("").as_posix(), file=file)


def run(cassette: LoadedCassette, runtime: str) -> Observation:
    """Go off, or be observed."""
    assert isinstance(cassette, Bomb)
    bomb = BOMBS.get(cassette.file.read_text())
    with cassette.pids.open("a") as pids:
        print(os.getpid(), file=pids)
    if bomb is not None:
        bomb(cassette)
    return samples.observation(runtime, name=cassette.name)


def _no_reason(cassette: LoadedCassette) -> None:
    return None


WATCHED: Backend = replace(
    samples.BACKEND, load=load, run=run, starts_processes=_no_reason, limits=Limits()
)
"""A backend that watches its cases, with the usual limits."""


def several_cases(count: int) -> int:
    """So many cases in one task, that use 0.3 s of CPU time each."""
    for _ in range(count):
        case_begins()
        _spend()
    return count


def one_long_case(count: int) -> int:
    """The same, and all of it is one case."""
    for _ in range(count):
        _spend()
    return count


def _spend() -> None:
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
