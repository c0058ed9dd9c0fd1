"""A guard: a process that cleans up after a killed process, by ending all that it started.

The first run starts the guard; `harness.experiment.guard_process` is its program.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Self

from services.leftovers import Kind, leftovers_reported_to

__all__ = ["Guard", "guarded"]

_SCRIPT: Final = Path(__file__).with_name("guard_process.py")
_GONE_S: Final = 10


class Guard:
    """Ends processes and removes folders when this process ends, in whatever way."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = os.getpid()

    def add(self, kind: Kind, what: str) -> None:
        """Report a process or a folder. The first report is a folder, so no process is missed."""
        if os.getpid() != self._pid:
            return
        self.start()
        with contextlib.suppress(BrokenPipeError):  # the guard was killed: runs go on without it
            self._input.write(f"{kind} {what}\n".encode("utf-8", "surrogateescape"))

    def start(self) -> int:
        """Start the guard's process unless it runs; return its id."""
        if self._process is None:
            self._process = _start()
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._process is not None:
            self._input.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GONE_S)

    @property
    def _input(self) -> IO[bytes]:
        assert self._process is not None
        assert self._process.stdin is not None
        return self._process.stdin


def _start() -> subprocess.Popen[bytes]:
    """Start a process that ignores the terminal's signals; without site packages it starts fast."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", _SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
        cwd="/",
    )


@contextmanager
def guarded(*, at_once: bool = False) -> Iterator[None]:
    """Clean up what the `with` block started when this process ends, in whatever way.

    With `at_once` the guard starts before the first run, which then does not count it among the
    processes that the run has left.
    """
    with Guard() as guard, leftovers_reported_to(guard.add):
        if at_once:
            guard.start()
        yield
