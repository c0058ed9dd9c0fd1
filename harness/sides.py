"""The names of the sides of a comparison: a runtime, two that take turns, or a baseline.

`adk`, `upstream@0.60.0`, `adk+legacy` (a session begun in one and resumed in the other),
`terminal:adk` (a session behind a surface), `openai:adk` (a session over another provider of
models), `terminal:openai:adk` (both), and `baseline:DIR`. Imports nothing of this project, so
that a command can check names first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = [
    "BASELINE",
    "PROVIDERS",
    "SURFACES",
    "TURNS",
    "USUAL",
    "base_names",
    "baseline_folder",
    "engines_of",
    "hands_over",
    "provider_name",
    "surface_name",
    "with_adk_plugins",
    "with_provider",
    "with_surface",
]

BASELINE: Final = "baseline:"
"""The prefix of a side that is a baseline, before the folder of its files."""

SURFACES: Final = ("terminal", "acp", "a2a")
"""The surfaces that a session can be played through."""

PROVIDERS: Final = ("gemini", "openai", "anthropic")
"""The providers of models that a session can be played over, each through its SDK."""

USUAL: Final = ("legacy", "adk")
"""Control and candidate where nothing names others."""

TURNS: Final = "+"
"""The separator between the names of runtimes that take turns."""


def baseline_folder(side: str) -> Path | None:
    """Return the folder of a side `baseline:DIR`; `None` for a runtime's name."""
    return Path(side.removeprefix(BASELINE)) if side.startswith(BASELINE) else None


def engines_of(side: str) -> tuple[str, ...]:
    """Return the runtimes of a side, in turn: `("adk", "legacy")` for `adk+legacy`.

    A baseline does not run, and is returned as its own name. Surface and provider are left out.
    """
    if baseline_folder(side) is not None:
        return (side,)
    return tuple(_split(side)[2].split(TURNS))


def surface_name(side: str) -> str | None:
    """Return the surface of a side: `terminal` for `terminal:adk`; `None` without one."""
    return _split(side)[0]


def provider_name(side: str) -> str | None:
    """Return the provider of a side: `openai` for `openai:adk`; `None` for the plain script."""
    return _split(side)[1]


def _split(side: str) -> tuple[str | None, str | None, str]:
    """The surface, the provider, and the runtimes."""
    found: list[str | None] = []
    for known in (SURFACES, PROVIDERS):
        before, colon, rest = side.partition(":")
        is_there = bool(colon) and before in known
        found.append(before if is_there else None)
        side = rest if is_there else side
    return found[0], found[1], side


def with_surface(side: str, surface: str) -> str:
    """Return `side` played through `surface`.

    Raises:
        ValueError: it is a baseline, or has a surface already.
    """
    if baseline_folder(side) is not None or surface_name(side) is not None:
        raise ValueError(f"{side!r} cannot be played through the {surface}")
    return f"{surface}:{side}"


def with_provider(side: str, provider: str) -> str:
    """Return `side` played over `provider`.

    Raises:
        ValueError: it is a baseline, or has a provider already.
    """
    if baseline_folder(side) is not None or provider_name(side) is not None:
        raise ValueError(f"{side!r} cannot be played over {provider}")
    surface, _, engines = _split(side)
    return f"{provider}:{engines}" if surface is None else f"{surface}:{provider}:{engines}"


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
    surface, provider, _ = _split(side)
    engines = TURNS.join(named if engine == "adk" else engine for engine in engines_of(side))
    engines = engines if provider is None else with_provider(engines, provider)
    return engines if surface is None else with_surface(engines, surface)
