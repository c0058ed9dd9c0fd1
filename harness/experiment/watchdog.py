"""The watchdog: a thread of the pool's parent that ends the worker of a case over its limits.

A case can block all threads of its own worker, for example with a regular expression that holds the
interpreter lock. It cannot block the parent, which runs no case. The watchdog measures workers from
outside; a worker only announces when a case begins and ends, and which processes it starts.
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
"""Seconds between two looks at a case. A process can allocate some 100 MiB in that time."""
_THOROUGH_S: Final = 1.0
"""Seconds between two searches for processes that left the tree of their worker."""
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
        limits: The limits of each case.
        pipe: The pipe in which workers announce their cases.
        stopped: Number of a task → the reason why its worker was ended.
    """

    def __init__(self, limits: Limits, *, seconds: Callable[[], float] = time.perf_counter) -> None:
        """Prepare to watch; `seconds` is a monotonic clock."""
        self.limits = limits
        self.stopped: dict[int, str] = {}
        self._read, self.pipe = Pipe(duplex=False)
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._cases: dict[int, _Case] = {}
        self._stopping = False
        self._seconds = seconds

    def start(self) -> None:
        """Start the thread, unless it runs.

        A pool that forks its worker from this process calls this after the fork, since a fork is
        safest with one thread.
        """
        if not self._thread.is_alive():
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread. All workers must have ended."""
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
        """Read the announcements of the workers."""
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
        """Read new announcements; return whether they end the case."""
        if self._read.poll(0):
            self._take()
        return self._cases.get(pid) is not case

    def _over(self, case: _Case, now: Usage) -> str | None:
        """Return the message about the limit that the case exceeds; `None` if it exceeds none."""
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
