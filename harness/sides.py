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
"""The prefix of a side that is a baseline, before the folder of its files."""

TURNS: Final = "+"
"""The separator between the names of runtimes that take turns."""


def baseline_folder(side: str) -> Path | None:
    """Return the folder of a side `baseline:DIR`; `None` for a runtime's name."""
    return Path(side.removeprefix(BASELINE)) if side.startswith(BASELINE) else None


def engines_of(side: str) -> tuple[str, ...]:
    """Return the runtimes of a side, in turn: `("adk", "legacy")` for `adk+legacy`.

    A baseline does not run, and is returned as its own name.
    """
    return (side,) if baseline_folder(side) is not None else tuple(side.split(TURNS))


def hands_over(side: str) -> bool:
    """Return whether a session is handed over on that side."""
    return len(engines_of(side)) > 1


def base_names(side: str) -> frozenset[str]:
    """Return a side's runtimes without versions: `upstream` for `upstream@0.60.0`."""
    return frozenset(engine.partition("@")[0] for engine in engines_of(side))


def with_adk_plugins(side: str, plugins: Sequence[str]) -> str:
    """Return `side` with third-party ADK plugins in each of its adk runtimes."""
    if not plugins or baseline_folder(side) is not None:
        return side
    named = f"adk@{','.join(plugins)}"
    return TURNS.join(named if engine == "adk" else engine for engine in engines_of(side))
