"""The probes as checks that `parity mutants` makes of mutants of the adk runtime."""

from __future__ import annotations

from typing import Final

from parity_tests.adk_probes.catalogue import all_probes
from parity_tests.adk_probes.elsewhere import ELSEWHERE
from parity_tests.adk_probes.judge import judged_anew

__all__ = ["NAMES", "check"]

_PROBES: Final = {probe.name: probe for probe in all_probes()}
_ELSEWHERE: Final = {each.name: each for each in ELSEWHERE}
NAMES: Final = (*_PROBES, *_ELSEWHERE)
"""What `check` knows."""


def check(name: str) -> tuple[str, ...]:
    """What differs between the runtime and stock ADK under this probe, a line each.

    Of a plugin in an app of others: what differs from what it must do there.
    """
    if name in _ELSEWHERE:
        return _ELSEWHERE[name].differs()
    return judged_anew(_PROBES[name]).left
