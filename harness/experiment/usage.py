"""The CPU time and memory of a process and its descendants, read from Linux's `/proc`.

A process joins a tree when it is first seen below the root. It stays in the tree when its parent
ends and another process adopts it, and so does every process of a session that it leads.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["MEASURABLE", "Tree", "Usage"]

MEASURABLE: Final = Path("/proc/self/stat").exists()
"""Whether this system has `/proc`. macOS does not."""

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_MIB: Final = 1 << 20
_ROUNDS: Final = 100
"""The maximum number of rounds in which a growing tree is stopped and read again."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The total that the processes of a tree use."""

    cpu_s: float
    """Seconds of CPU time of each process since its start, with the children it waited for."""
    memory_mib: float
    """MiB of resident memory."""


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    session: int
    begun: int
    """Time of its start, in ticks since boot. Together with its id it identifies a process."""
    ticks: int
    pages: int
    ended: bool


class Tree:
    """A process and everything below it, except for the processes `beside`."""

    def __init__(self, root: int, beside: Iterable[int] = ()) -> None:
        self._root = root
        self._beside = frozenset(beside)
        self._seen: dict[int, int] = {}
        self._leaders: dict[int, int] = {}
        found = _process(root)
        if found is not None:
            self._add(root, found)

    def add_leader(self, pid: int) -> None:
        """Add a session leader, which may have ended, and the processes of its session."""
        found = _process(pid)
        self._leaders[pid] = 0 if found is None else found.begun
        if found is not None:
            self._seen[pid] = found.begun

    @property
    def alive(self) -> bool:
        """Return whether the root was running when the tree was last read."""
        return self._root in self._seen

    def usage(self, *, thorough: bool = False) -> Usage:
        """Return the current usage of all processes of the tree.

        Args:
            thorough: Read the whole table of processes, to find those that another process adopted
                before they were seen. That takes milliseconds on a machine with many processes, so
                it happens only if the root has started processes.
        """
        started_any = len(self._seen) > 1 or bool(self._leaders)
        living = self._processes(thorough=thorough and started_any)
        ticks = sum(each.ticks for each in living.values())
        pages = sum(each.pages for each in living.values())
        return Usage(cpu_s=ticks / _TICKS, memory_mib=pages * _PAGE / _MIB)

    def kill(self) -> None:
        """Kill all processes of the tree.

        All are stopped first, so that none can start another.
        """
        stopped: dict[int, int] = {}
        for _ in range(_ROUNDS):
            fresh = {
                pid: each.begun
                for pid, each in self._processes(thorough=True).items()
                if stopped.get(pid) != each.begun
            }
            if not fresh:
                break
            for pid in fresh:
                _send(pid, signal.SIGSTOP)
            stopped.update(fresh)
        for pid in self._living():
            _send(pid, signal.SIGKILL)

    def _add(self, pid: int, process: _Process) -> None:
        self._seen[pid] = process.begun
        if process.session == pid:
            self._leaders[pid] = process.begun

    def _living(self) -> dict[int, _Process]:
        """Return the known processes that still run; drop ids that other processes have by now."""
        living: dict[int, _Process] = {}
        for pid, begun in list(self._seen.items()):
            found = _process(pid)
            if found is None or found.begun != begun or found.ended:
                del self._seen[pid]
            else:
                living[pid] = found
        return living

    def _processes(self, *, thorough: bool) -> dict[int, _Process]:
        living = self._living()
        if thorough or not _LISTS_CHILDREN:
            self._add_from(_table(), living)
            return living
        waiting = list(living)
        while waiting:
            for pid in _children(waiting.pop()):
                if pid not in living and pid not in self._beside:
                    found = _process(pid)
                    if found is not None and not found.ended:
                        self._add(pid, found)
                        living[pid] = found
                        waiting.append(pid)
        return living

    def _add_from(self, table: dict[int, _Process], living: dict[int, _Process]) -> None:
        """Add the processes of `table` that are below one of `living`, or in a session of one.

        A session outlives its leader. No other process gets its id while it has members.
        """
        before = -1
        while len(living) != before:
            before = len(living)
            sessions = {
                pid
                for pid, begun in self._leaders.items()
                if pid not in table or table[pid].begun == begun
            }
            for pid, each in table.items():
                if pid in living or pid in self._beside or each.ended:
                    continue
                if each.parent in living or each.session in sessions:
                    self._add(pid, each)
                    living[pid] = each


def _process(pid: int) -> _Process | None:
    try:
        # The name in parentheses may contain any character.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return _Process(
            parent=int(fields[1]),
            session=int(fields[3]),
            begun=int(fields[19]),
            ticks=sum(map(int, fields[11:15])),
            pages=int(fields[21]),
            ended=fields[0] in b"ZX",
        )
    except (OSError, IndexError, ValueError):
        return None


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_bytes().split())
    return found


_LISTS_CHILDREN: Final = Path(f"/proc/self/task/{os.getpid()}/children").exists()
"""Whether the kernel lists the children of a process."""


def _table() -> dict[int, _Process]:
    with suppress(OSError):
        pids = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
        return {pid: found for pid in pids if (found := _process(pid)) is not None}
    return {}


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
