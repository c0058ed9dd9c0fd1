"""The CPU time, time and memory that a case may use before the watchdog ends it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Self

__all__ = ["LIMITS_VARIABLE", "Limits"]

LIMITS_VARIABLE: Final = "PARITY_LIMITS"
"""The environment variable of the limits, read if the command line sets none."""

_FIELDS: Final = {"cpu": "cpu_s", "wall": "wall_s", "memory": "memory_mib"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The maximum of CPU time, time and memory for one case, over all of its runs.

    The slowest cases of the corpus take two seconds. The defaults leave a wide margin for a slow
    machine, and still end a hostile case before it harms the machine.
    """

    cpu_s: float = 30.0
    """Seconds of CPU time of the worker process and its descendants."""
    wall_s: float = 180.0
    """Seconds of real time."""
    memory_mib: float = 1536.0
    """MiB by which the resident memory of worker and descendants may grow during the case."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `cpu=30,wall=180,memory=1536`; a limit that is not named keeps its default.

        Raises:
            ValueError: The text has another form; the message names the problem.
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
        """Return the limits for `runs` runs of each side: times are multiplied, memory is not."""
        return replace(self, cpu_s=self.cpu_s * runs, wall_s=self.wall_s * runs)

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"cpu={self.cpu_s:g},wall={self.wall_s:g},memory={self.memory_mib:g}"


def _positive(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"{name} is {text!r}, which is no number above 0")
    return number
