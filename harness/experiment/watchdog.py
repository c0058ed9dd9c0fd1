"""Ends the worker of a case that uses too much of the machine: a thread of the pool's parent.

The parent runs no case itself, so no case can keep this thread from running: a regular expression
that holds a worker's interpreter lock keeps all threads of that worker from running. It looks at
workers from outside alone, and needs nothing of the worker but the word that a case begins.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import Final

from harness.experiment.announcing import Announcement
from harness.experiment.limits import Limits
from harness.experiment.usage import MEASURABLE, Tree, Usage

__all__ = ["Watchdog"]

_EVERY_S: Final = 0.05
"""How often a case is looked at. A process can allocate some 100 MiB in that time."""
_THOROUGH_S: Final = 1.0
"""How often processes are looked for that left the tree of those that started them."""
_STOP: Final = b"stop"


@dataclass(slots=True)
class _Case:
    task: int
    tree: Tree
    since: float
    before: Usage


class Watchdog:
    """Watches the workers of one pool, from `start` to `stop`.

    Attributes:
        limits: What each case may use.
        pipe: What workers announce their cases in.
        stopped: Number of a task to the reason why its worker was ended.
    """

    def __init__(self, limits: Limits, *, seconds: Callable[[], float] = time.perf_counter) -> None:
        """`seconds` is a clock that counts from anywhere."""
        self.limits = limits
        self.stopped: dict[int, str] = {}
        self._read, self.pipe = Pipe(duplex=False)
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._cases: dict[int, _Case] = {}
        self._stopping = False
        self._seconds = seconds

    def start(self) -> None:
        """Begin to watch; does nothing where that is done already.

        A pool that forks its worker from this process calls it after the fork, which is safest
        with one thread.
        """
        if not self._thread.is_alive():
            self._thread.start()

    def stop(self) -> None:
        """Watch no longer. All workers have ended by now."""
        if self._thread.is_alive():
            self.pipe.send_bytes(_STOP)
            self._thread.join()
        self._read.close()
        self.pipe.close()

    def _watch(self) -> None:
        look = thorough = self._seconds()
        while True:
            wait = max(0.0, look - self._seconds()) if self._cases else None
            if self._read.poll(wait):
                self._take()
            if self._stopping:
                return
            now = self._seconds()
            if now >= look:
                self._look(thorough=now >= thorough)
                look = now + _EVERY_S
                thorough = now + _THOROUGH_S if now >= thorough else thorough

    def _take(self) -> None:
        """Take in what workers have announced."""
        while True:
            message = self._read.recv_bytes()
            if message == _STOP:
                self._stopping = True
                return
            announced = Announcement.parse(message)
            if announced.what == "begins":
                tree = Tree(announced.pid, beside=[announced.guard])
                self._cases[announced.pid] = _Case(
                    announced.number, tree, self._seconds(), tree.usage()
                )
            elif announced.what == "ends":
                self._cases.pop(announced.pid, None)
            elif announced.pid in self._cases:
                self._cases[announced.pid].tree.add_leader(announced.number)
            if not self._read.poll(0):
                return

    def _look(self, *, thorough: bool) -> None:
        for pid, case in list(self._cases.items()):
            reason = self._over(case, case.tree.usage(thorough=thorough))
            if MEASURABLE and not case.tree.alive:
                del self._cases[pid]
                continue
            if reason is None or self._ended(pid, case):
                continue
            self.stopped[case.task] = reason
            del self._cases[pid]
            case.tree.kill()
            if not MEASURABLE:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _ended(self, pid: int, case: _Case) -> bool:
        """Whether the worker has announced meanwhile that the case has ended."""
        if self._read.poll(0):
            self._take()
        return self._cases.get(pid) is not case

    def _over(self, case: _Case, now: Usage) -> str | None:
        """Which limit a case is over, in words; `None` for none."""
        limits = self.limits
        if now.cpu_s - case.before.cpu_s > limits.cpu_s:
            excess = f"it used more than {limits.cpu_s:g} s of CPU time"
        elif now.memory_mib - case.before.memory_mib > limits.memory_mib:
            excess = f"its memory grew by more than {limits.memory_mib:g} MiB"
        elif self._seconds() - case.since > limits.wall_s:
            excess = f"it took longer than {limits.wall_s:g} s"
        else:
            return None
        return f"stopped: {excess}, all its runs together; see --limits"
