"""The probes as checks that `parity mutants` makes of mutants of the adk runtime."""

from __future__ import annotations

from typing import Final

from parity_tests.adk_probes.catalogue import all_probes
from parity_tests.adk_probes.judge import judged_anew

__all__ = ["NAMES", "check"]

_PROBES: Final = {probe.name: probe for probe in all_probes()}
NAMES: Final = tuple(_PROBES)
"""What `check` knows."""


def check(name: str) -> tuple[str, ...]:
    """What differs between the runtime and stock ADK under this probe, a line each."""
    return judged_anew(_PROBES[name]).left
