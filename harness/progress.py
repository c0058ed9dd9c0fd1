"""When a long command reports how far it is, and in which words.

On a terminal a line follows everything that happens. A log gets a line every ten seconds or every
twentieth of the work, whichever comes first: none in the first ten seconds, so that a short run's
log stays short, and at most one a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["EVERY_S", "Pace", "in_words", "so_far"]

EVERY_S: Final = 10.0
"""Seconds after which a log gets a line, however little is done."""
_SHARE: Final = 0.05
"""Part of the work after which it gets one, however soon."""
_LEAST_S: Final = 1.0
"""Seconds between two lines."""
_UNITS: Final = {"h": 3600, "m": 60, "s": 1}


class Pace:
    """Says when a line of progress is due in a log.

    Args:
        clock: Seconds from anywhere; only differences matter.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = self._last = clock()
        self._share = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since it was made."""
        return self._clock() - self._begun

    def due(self, share: float) -> bool:
        """Whether a line is due; if so, the next one counts from here.

        Args:
            share: The part of the work that is done, from 0 to 1.
        """
        now = self._clock()
        if now - self._begun < EVERY_S:
            return False
        quiet_s = now - self._last
        # Of the last case the report says more.
        far = share - self._share + 1e-9 >= _SHARE and quiet_s >= _LEAST_S and share < 1
        if quiet_s < EVERY_S and not far:
            return False
        self._last, self._share = now, share
        return True


def so_far(elapsed_s: float, share: float) -> str:
    """The time that has passed, and an estimate of what is left: `2m10s, about 4m left`.

    Args:
        elapsed_s: Seconds since the work began.
        share: The part of it that is done since then, from 0 to 1.
    """
    words = in_words(elapsed_s)
    if not 0 < share < 1:
        return words
    left_s = elapsed_s / share - elapsed_s
    return f"{words}, about {in_words(max(left_s, 1))} left"


def in_words(seconds: float) -> str:
    """A duration as it would be written on the command line: `1h30m`, `42s`."""
    left = round(seconds)
    words = ""
    for unit, worth in _UNITS.items():
        count, left = divmod(left, worth)
        words += f"{count}{unit}" if count else ""
    return words or "0s"
