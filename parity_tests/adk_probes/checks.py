"""The probes as checks that `parity mutants` makes of mutants of the adk runtime."""

from __future__ import annotations

from itertools import chain
from typing import Final

from parity_tests.adk_probes.aborted import ABORTED
from parity_tests.adk_probes.batches import BATCHES
from parity_tests.adk_probes.catalogue import all_probes
from parity_tests.adk_probes.elsewhere import ELSEWHERE, Elsewhere
from parity_tests.adk_probes.hooked import HOOKED
from parity_tests.adk_probes.judge import judged_anew
from parity_tests.adk_probes.lasting import LASTING
from parity_tests.adk_probes.looking import LOOKING
from parity_tests.adk_probes.rare import RARE
from parity_tests.adk_probes.stated import Watched, Within
from parity_tests.adk_probes.within import WITHIN

__all__ = ["ALONE", "NAMES", "check"]

_PROBES: Final = {probe.name: probe for probe in all_probes()}
ALONE: Final = tuple(
    chain[Elsewhere | Within | Watched](
        ELSEWHERE, HOOKED, WITHIN, ABORTED, BATCHES, LASTING, RARE, LOOKING
    )
)
"""The checks that stock ADK has nothing to compare with."""
_ALONE: Final = {each.name: each for each in ALONE}
NAMES: Final = (*_PROBES, *_ALONE)
"""What `check` knows."""


def check(name: str) -> tuple[str, ...]:
    """What differs between the runtime and stock ADK under this probe, a line each.

    Of what stock ADK has nothing to compare with: what differs from what the check states.
    """
    if name in _ALONE:
        return _ALONE[name].differs()
    return judged_anew(_PROBES[name]).left
