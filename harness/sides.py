"""The names of the sides of a comparison: a runtime, two that take turns, or a baseline.

`adk`, `upstream@0.60.0`, `adk+legacy` (a session begun in one and resumed in the other), and
`baseline:DIR`. Imports nothing of this project, so that a command can check names first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = [
    "BASELINE",
    "TURNS",
    "base_names",
    "baseline_folder",
    "engines_of",
    "hands_over",
    "with_adk_plugins",
]

BASELINE: Final = "baseline:"
"""How the name of a side begins that is no runtime; what follows is the folder of its files."""

TURNS: Final = "+"
"""What stands between the names of runtimes that take turns."""


def baseline_folder(side: str) -> Path | None:
    """The folder of a side called `baseline:DIR`; `None` for one that is a runtime's name."""
    return Path(side.removeprefix(BASELINE)) if side.startswith(BASELINE) else None


def engines_of(side: str) -> tuple[str, ...]:
    """The runtimes that play a side, in turn: `("adk", "legacy")` for `adk+legacy`.

    Of a baseline nothing is played; it stands for itself.
    """
    return (side,) if baseline_folder(side) is not None else tuple(side.split(TURNS))


def hands_over(side: str) -> bool:
    """Whether a session changes hands on that side."""
    return len(engines_of(side)) > 1


def base_names(side: str) -> frozenset[str]:
    """The runtimes that play a side without their versions: `upstream` for `upstream@0.60.0`."""
    return frozenset(engine.partition("@")[0] for engine in engines_of(side))


def with_adk_plugins(side: str, plugins: Sequence[str]) -> str:
    """`side` with third parties' ADK plugins in each adk runtime that plays it."""
    if not plugins or baseline_folder(side) is not None:
        return side
    named = f"adk@{','.join(plugins)}"
    return TURNS.join(named if engine == "adk" else engine for engine in engines_of(side))
