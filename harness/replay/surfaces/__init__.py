"""The surfaces that a session can be played through, by their names in `harness.sides`."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from harness.replay.client import Surface
from harness.replay.direct import played_directly
from harness.sides import surface_name

__all__ = ["DIRECT", "surface_of"]

DIRECT: Final = Surface(
    name="client", playing=played_directly, refusal=lambda _: None, interactive=False
)
"""No surface: the client calls the runtime."""


def surface_of(side: str) -> Surface:
    """Return the surface of a side, whose module is imported only now."""
    name = surface_name(side)
    if name is None:
        return DIRECT
    surface: Surface = import_module(f"{__name__}.{name}").SURFACE
    return surface
