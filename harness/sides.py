"""The names of the sides of a comparison: a runtime, two that take turns, or a baseline.

`adk`, `upstream@0.60.0`, `adk+legacy` (a session begun in one and resumed in the other),
`terminal:adk` (a session behind a surface), and `baseline:DIR`. Imports nothing of this project, so
that a command can check names first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = [
    "BASELINE",
    "SURFACES",
    "TURNS",
    "USUAL",
    "base_names",
    "baseline_folder",
    "engines_of",
    "hands_over",
    "surface_name",
    "with_adk_plugins",
    "with_surface",
]

BASELINE: Final = "baseline:"
"""The prefix of a side that is a baseline, before the folder of its files."""

SURFACES: Final = ("terminal", "acp")
"""The surfaces that a session can be played through."""

USUAL: Final = ("legacy", "adk")
"""Control and candidate where nothing names others."""

TURNS: Final = "+"
"""The separator between the names of runtimes that take turns."""


def baseline_folder(side: str) -> Path | None:
    """Return the folder of a side `baseline:DIR`; `None` for a runtime's name."""
    return Path(side.removeprefix(BASELINE)) if side.startswith(BASELINE) else None


def engines_of(side: str) -> tuple[str, ...]:
    """Return the runtimes of a side, in turn: `("adk", "legacy")` for `adk+legacy`.

    A baseline does not run, and is returned as its own name. A surface is left out.
    """
    if baseline_folder(side) is not None:
        return (side,)
    surface = surface_name(side)
    return tuple((side if surface is None else side.removeprefix(f"{surface}:")).split(TURNS))


def surface_name(side: str) -> str | None:
    """Return the surface of a side: `terminal` for `terminal:adk`; `None` without one."""
    before, colon, _ = side.partition(":")
    return before if colon and before in SURFACES else None


def with_surface(side: str, surface: str) -> str:
    """Return `side` played through `surface`.

    Raises:
        ValueError: it is a baseline, or has a surface already.
    """
    if baseline_folder(side) is not None or surface_name(side) is not None:
        raise ValueError(f"{side!r} cannot be played through the {surface}")
    return f"{surface}:{side}"


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
    surface = surface_name(side)
    engines = TURNS.join(named if engine == "adk" else engine for engine in engines_of(side))
    return engines if surface is None else with_surface(engines, surface)
