"""A process forked from this one that answers requests, until it is closed or takes too long.

What runs in it may be broken on purpose: its answers are bytes that this side reads, and nothing of
what it does to its own modules, threads or files of state reaches the process that forked it.
"""

from __future__ import annotations

import os
import pickle
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Final, NoReturn, Self

from harness.experiment.usage import Tree
from harness.experiment.with_parent import end_with_parent

__all__ = ["Answer", "Forked", "Gone", "Raised"]

Answer = Callable[[Any], Any]
"""Answers one request, in the forked process."""

_OVER_TIME: Final = b"over time"
_PREPARE_S: Final = 120.0
"""What preparing may take, in seconds of either kind: importing all of our code takes two."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The process gave no answer: it exceeded its time limit, or it ended."""

    over_time: bool


@dataclass(frozen=True, slots=True)
class Raised:
    """What answers requests raised this."""

    says: str


class Forked:
    """A forked process. Use as a context manager: leaving it ends the process.

    Args:
        prepare: Called first in the forked process; returns what answers requests. What it raises
            is the answer to each request.
        cpu_s: Seconds of CPU time that an answer may take. A process that is over them says so
            before it ends.
        wall_s: Seconds that may pass until an answer; then the process is killed.
    """

    def __init__(self, prepare: Callable[[], Answer], *, cpu_s: float, wall_s: float) -> None:
        self._prepare = prepare
        self._cpu_s = cpu_s
        self._wall_s = wall_s
        self._failed: Any = None
        """The failure of `prepare`, or `()` once it has succeeded."""

    def __enter__(self) -> Self:
        here, there = Pipe()
        with warnings.catch_warnings():
            # Python warns of forks beside threads. They hold nothing that this process needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            here.close()
            self._serve(there)
        there.close()
        self._connection = here
        return self

    def __exit__(self, *raised: object) -> None:
        self._connection.close()
        Tree(self._pid).kill()
        os.waitpid(self._pid, 0)

    def ask(self, request: Any) -> Any:
        """The answer to a request, `Raised` or `Gone`; after `Gone` there is none.

        Args:
            request: Of built-in types, since all others may have been imported anew over there.
        """
        if self._failed is None:
            self._failed = self._received(_PREPARE_S) or ()
        if self._failed:
            return self._failed
        try:
            self._connection.send(request)
        except OSError:
            return Gone(over_time=False)
        return self._received(self._wall_s)

    def _received(self, wall_s: float) -> Any:
        try:
            if not self._connection.poll(wall_s):
                return Gone(over_time=True)
            data = self._connection.recv_bytes()
        except (EOFError, OSError):
            return Gone(over_time=False)
        if data == _OVER_TIME:
            return Gone(over_time=True)
        answered, value = pickle.loads(data)  # noqa: S301 - written by a process of ours
        return value if answered else Raised(value)

    def _serve(self, connection: Connection) -> NoReturn:
        """The life of the forked process. It never returns to the code that forked it."""
        try:
            end_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

            def ring(number: int, frame: object) -> None:
                connection.send_bytes(_OVER_TIME)
                signal.pause()  # the other side ends this process, and what it started

            signal.signal(signal.SIGPROF, ring)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for stream in (1, 2):  # the warnings of broken code do not concern the user
                os.dup2(nowhere, stream)
            self._answer(connection)
        except BaseException:  # noqa: BLE001, S110 - the end of a forked process: nothing is above it
            pass
        finally:
            os._exit(0)

    def _answer(self, connection: Connection) -> None:
        connection.send_bytes(self._limited(_PREPARE_S, self._take_preparation))
        while True:
            request = connection.recv()
            connection.send_bytes(self._limited(self._cpu_s, partial(self._answering, request)))

    def _take_preparation(self) -> None:
        self._answering = self._prepare()

    def _limited(self, cpu_s: float, work: Callable[[], Any]) -> bytes:
        """What is sent of some work; only built-in types are around its result."""
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        try:
            data = pickle.dumps((True, work()), pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # noqa: BLE001 - a border: what is broken may raise anything
            data = pickle.dumps((False, f"{type(error).__name__}: {error}"))
        signal.setitimer(signal.ITIMER_PROF, 0)
        return data
