"""`DriverProcess`: one node process that runs `driver.mjs`, with its pipes.

`connection` knows the messages. A process belongs to no event loop: it stays warm between runs, and
each run has a loop of its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from runtimes.contract import RuntimeBroken
from services.redaction import redacted

__all__ = ["DRIVER", "DriverBroken", "DriverProcess"]

DRIVER: Final = Path(__file__).with_name("driver.mjs")
_TAIL_BYTES: Final = 4_000
_BEFORE_TAIL_BYTES: Final = 8_000
_NOTES_BYTES: Final = 1 << 16
_ENDING_S: Final = 1.0
_GONE_S: Final = 5.0


class DriverBroken(RuntimeBroken):
    """The driver died, broke its protocol, or did not answer in time."""


class DriverProcess:
    """A started driver. `close` ends it, whatever it is doing.

    Attributes:
        outbox: The pipe of its messages; non-blocking.
        inbox: The pipe of commands to it; non-blocking.
        replies: The pipe of answers to its calls; non-blocking.
        sessions: How many sessions it has served.
        sent: How many messages were written to its inbox.
    """

    def __init__(self, command: Sequence[str | Path], version: str) -> None:
        """Start `command` with the pipes that `driver/channel.mjs` describes.

        Raises:
            OSError: it cannot be started.
        """
        self.version = version
        self.sessions = 0
        self.sent = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._started = tempfile.TemporaryFile()  # noqa: SIM115 - the same
        theirs: list[int] = []
        ours: list[int] = []
        try:
            for written_by_us in (True, False, True, True):
                reading, writing = os.pipe()
                ours.append(writing if written_by_us else reading)
                theirs.append(reading if written_by_us else writing)
            shared = [*theirs, self._started.fileno()]
            self._process = _start(command, shared, self._errors.fileno())
        except BaseException:
            _close_all(ours)
            self._errors.close()
            self._started.close()
            raise
        finally:
            _close_all(theirs)
        self.inbox, self.outbox, self.replies, self._lifeline = ours
        for descriptor in ours:
            os.set_blocking(descriptor, False)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """False from the moment it has ended."""
        return self._process.poll() is None

    def fresh_errors(self) -> None:
        """Forget what it has written to its error stream so far."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._errors.fileno(), 0)

    def error_tail(self) -> str:
        """The end of what it has written to its output and error streams, without secrets."""
        descriptor = self._errors.fileno()
        size = os.fstat(descriptor).st_size
        # The beginning of a secret identifies it, and may stand before the part that is shown.
        read = _TAIL_BYTES + _BEFORE_TAIL_BYTES
        raw = os.pread(descriptor, read, max(0, size - read))
        tail = redacted(raw.decode("utf-8", "replace")).encode()[-_TAIL_BYTES:]
        return tail.decode("utf-8", "replace").strip("\0").strip()

    def ended(self) -> str:
        """How it ended, for a message; waits a moment if it is still running."""
        try:
            code = self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            return "closed its pipes and did not end"
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def close(self) -> None:
        """End it and all that it started; returns when it is gone. The second call does nothing."""
        if self.inbox < 0:
            return
        # The end of the lifeline makes its watcher end what it started, then itself, even where
        # its main thread is stuck.
        _close_all([self._lifeline, self.inbox, self.outbox, self.replies])
        self.inbox = self.outbox = self.replies = self._lifeline = -1
        try:
            self._process.wait(_GONE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # A driver that was killed has not ended its own children.
        self._end_started()
        self._errors.close()
        self._started.close()

    def _end_started(self) -> None:
        """End the processes that it noted and did not end; a negative number is a process group."""
        noted = os.pread(self._started.fileno(), _NOTES_BYTES, 0)
        for (target,) in struct.iter_unpack("<i", noted[: len(noted) // 4 * 4]):
            if abs(target) > 1:  # never all processes, nor the first
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(target, signal.SIGKILL)


def _start(
    command: Sequence[str | Path], theirs: Sequence[int], errors: int
) -> subprocess.Popen[bytes]:
    """Start the driver; the numbers of its pipes are its last argument.

    It gets a session of its own, so that the terminal's Ctrl-C does not reach it.
    """
    return subprocess.Popen(
        [*command, ",".join(map(str, theirs))],
        stdin=subprocess.DEVNULL,
        stdout=errors,
        stderr=errors,
        pass_fds=theirs,
        start_new_session=True,
        cwd="/",
        env=_environment(),
    )


def _environment() -> dict[str, str]:
    """What node itself needs; each session sets the variables that the core sees."""
    return {"PATH": os.environ.get("PATH", os.defpath), "TZ": "UTC", "LANG": "en_US.UTF-8"}


def _close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)
