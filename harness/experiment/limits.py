"""What one case may use of the machine before the watchdog ends it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Self

__all__ = ["LIMITS_VARIABLE", "Limits"]

LIMITS_VARIABLE: Final = "PARITY_LIMITS"
"""The environment variable that holds the limits where the command line gives none."""

_FIELDS: Final = {"cpu": "cpu_s", "wall": "wall_s", "memory": "memory_mib"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one case may use, over all of its runs.

    The slowest cases of the corpus take two seconds. The defaults leave a slow machine a wide
    margin, and still end a hostile case before the machine suffers.
    """

    cpu_s: float = 30.0
    """Seconds of CPU time, of the worker process and of everything that it started."""
    wall_s: float = 180.0
    """Seconds that pass."""
    memory_mib: float = 1536.0
    """MiB of resident memory above what worker and descendants held when the case began."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `cpu=30,wall=180,memory=1536`; a limit that is not named keeps its default.

        Raises:
            ValueError: the text is of another form; the message says what is wrong with it.
        """
        given: dict[str, float] = {}
        for part in text.split(","):
            name, _, number = (word.strip() for word in part.partition("="))
            if name not in _FIELDS:
                raise ValueError(f"{part.strip()!r} sets none of cpu, wall and memory")
            if _FIELDS[name] in given:
                raise ValueError(f"{name} is set twice")
            given[_FIELDS[name]] = _positive(name, number)
        return cls(**given)

    def times(self, runs: int) -> Limits:
        """The limits of a case whose runs are repeated so many times: time adds up, memory not."""
        return replace(self, cpu_s=self.cpu_s * runs, wall_s=self.wall_s * runs)

    def __str__(self) -> str:
        """The form that `parse` reads."""
        return f"cpu={self.cpu_s:g},wall={self.wall_s:g},memory={self.memory_mib:g}"


def _positive(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"{name} is {text!r}, which is no number above 0")
    return number
