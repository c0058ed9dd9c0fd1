"""All probes, by group."""

from __future__ import annotations

from typing import Final

from parity_tests.adk_probes import (
    editing,
    observing,
    processing,
    remembering,
    replacing,
    shipped,
    tooling,
)
from parity_tests.adk_probes.probe import Probe

__all__ = ["GROUPS", "all_probes"]

GROUPS: Final[tuple[tuple[str, tuple[Probe, ...]], ...]] = tuple(
    (module.GROUP, module.PROBES)
    for module in (observing, replacing, editing, processing, tooling, remembering, shipped)
)
"""Heading to its probes, in the order of the page."""


def all_probes() -> list[Probe]:
    """The probes of every group."""
    return [probe for _, probes in GROUPS for probe in probes]
