"""Probes over the surfaces that showed a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.replay.observation import Observation
from harness.sides import surface_name

__all__ = ["surface_probes"]

_WORDS: Final = {"terminal": "tui", "acp": "acp", "a2a": "a2a"}


def surface_probes(seen: Observation) -> Iterator[str]:
    """Yield the surface, if it showed an answer or an error of the session."""
    surface = surface_name(seen.runtime)
    if surface is not None and (seen.screens or seen.wire) and seen.events:
        yield f"surface:{_WORDS[surface]}"
