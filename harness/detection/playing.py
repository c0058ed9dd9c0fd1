"""Run one case through a runtime that may be broken, and always return a result.

A broken runtime may raise anything, and may block the event loop. So two clocks keep the real
deadline: the loop, and an alarm of the operating system.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from harness.canonical import canonical, sha256_hex
from harness.cassette.format import Cassette
from harness.detection.reach import calls_noted
from harness.experiment.backend import LoadedCassette
from harness.faults.force import in_force
from harness.http.case import HttpCase
from harness.parity.compare import observation_digest
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from seeded_faults import Fault

__all__ = ["BROKEN_DEADLINE_S", "Broke", "Seen", "play", "play_broken"]

BROKEN_DEADLINE_S: Final = 10.0
"""Deadline of a broken run in real seconds; good runs take hundredths, the slowest about one."""

_GRACE_S: Final = 2.0
"""Seconds from the loop's deadline to the alarm."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An observed run, and the digest of the observation with its times."""

    observation: Observation
    digest: str
    called: frozenset[str] = frozenset()
    """The noted targets that the run called."""


@dataclass(frozen=True, slots=True)
class Broke:
    """A run without an observation, and the reason."""

    says: str


class _Stuck(BaseException):
    """Raised by the alarm. Not an `Exception`, so that the run does not catch it."""


def play(
    cassette: LoadedCassette,
    runtime: str,
    *,
    deadline_s: float = 60,
    noting: tuple[str, ...] = (),
) -> Seen:
    """One run of an unbroken runtime, in which calls of the targets `noting` are noted."""
    with calls_noted(noting) as reach:
        if isinstance(cassette, HttpCase):
            observed = run_cassette(
                cassette.cassette, runtime, deadline_s=deadline_s, model=cassette.model
            )
        else:
            assert isinstance(cassette, Cassette)
            observed = run_cassette(cassette, runtime, deadline_s=deadline_s)
    return Seen(observed, _digest(observed), frozenset(reach.called))


def _digest(seen: Observation) -> str:
    """Digest of all that a comparison of two runs of one product looks at: times, too.

    The digest of a report leaves them out, since a baseline has none.
    """
    times = [[channel, index, at_ms] for (channel, index), at_ms in sorted(seen.times.items())]
    hooks = [[run.event, run.hook, run.at_ms, run.thread] for run in seen.hooks]
    return sha256_hex(canonical([observation_digest(seen), times, hooks]))


def play_broken(
    cassette: LoadedCassette,
    runtime: str,
    fault: Fault,
    *,
    deadline_s: float = BROKEN_DEADLINE_S,
    grace_s: float = _GRACE_S,
) -> Seen | Broke:
    """One run of `runtime` with `fault` in force.

    Args:
        cassette: What to run.
        runtime: The runtime's name.
        fault: What to break, if it breaks that runtime.
        deadline_s: Real seconds after which the run is given up.
        grace_s: Seconds from then to the alarm.

    Raises:
        UnknownTarget: A target of the fault does not exist.
    """
    with in_force(fault, runtime):
        run = partial(play, cassette, runtime, deadline_s=deadline_s)
        return _guarded(run, deadline_s, grace_s)


def _guarded(run: Callable[[], Seen], deadline_s: float, grace_s: float) -> Seen | Broke:
    with _alarm(deadline_s + grace_s) as rang:
        try:
            return run()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a broken runtime may raise anything
            if rang:
                return Broke(f"turned in a circle until {deadline_s:g} s had passed")
            return Broke(f"{type(error).__name__}: {str(error)[:200]}")


@contextmanager
def _alarm(after_s: float) -> Iterator[list[bool]]:
    """Raise `_Stuck` after `after_s` real seconds, and each second from then on.

    Signals reach the main thread only; other threads have no alarm.

    Yields:
        A list, empty until the alarm goes off.
    """
    rang: list[bool] = []
    if threading.current_thread() is not threading.main_thread():
        yield rang
        return

    def ring(number: int, frame: object) -> None:
        rang.append(True)
        raise _Stuck

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, after_s, 1.0)
    try:
        yield rang
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
