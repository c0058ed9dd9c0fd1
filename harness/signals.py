"""Makes SIGTERM unwind the process, so that it cleans up its child processes and folders."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["leave", "leaving_for_certain", "terminated_like_interrupted"]

_AGAIN_S: Final = 0.01


class _Terminated(SystemExit):
    """The exception that only `leave` raises."""


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM unwind this process; by default the process ends at once without cleaning up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        with leaving_for_certain():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def leave(number: int, frame: object) -> None:
    """Handle a signal by unwinding the process; ignore further signals."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Terminated(128 + number)


@contextmanager
def leaving_for_certain() -> Iterator[None]:
    """Leave also where the signal comes while Python runs a finalizer or a callback of its own.

    Python prints what is raised there, and goes on as if nothing had been raised. The process
    would then be deaf to SIGTERM and never leave. So the signal is sent once more, a moment later,
    and nothing is printed.
    """
    before = sys.unraisablehook

    def hook(unraisable: UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, _Terminated):
            before(unraisable)
            return
        signal.signal(signal.SIGTERM, leave)
        # Sent from here the signal would be raised in this hook, which Python runs as well.
        again = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), signal.SIGTERM))
        again.daemon = True
        again.start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
