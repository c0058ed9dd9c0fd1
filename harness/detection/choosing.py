"""Choose the faults of a measurement, and check that each can be put in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from harness.detection.stratified import FaultSample, stratified
from harness.errors import UsageError
from seeded_faults import Fault

__all__ = ["chosen_faults", "dead", "sampled"]

_LIST = "see `parity faults --list`"


def chosen_faults(
    catalogue: Mapping[str, Fault],
    names: Collection[str],
    classes: Collection[str],
    sites: Collection[str],
) -> list[Fault]:
    """The faults that fit all criteria, in the catalogue's order; an empty criterion fits all.

    Raises:
        UsageError: there is no fault of a name, or none fits.
    """
    for name in names:
        if name not in catalogue:
            near = get_close_matches(name, catalogue, n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"unknown fault {name!r}{hint}", _LIST)
    found = [
        fault
        for fault in catalogue.values()
        if (not names or fault.name in names)
        and (not classes or fault.behaviour in classes)
        and (not sites or fault.site in sites)
    ]
    if not found:
        raise UsageError("no fault fits all of what was asked", _LIST)
    return found


def sampled(chosen: list[Fault], size: int, seed: int) -> tuple[list[Fault], FaultSample]:
    """Draw a sample of the observable faults.

    Raises:
        UsageError: no fault is observable.
    """
    observable = sum(fault.unobservable is None for fault in chosen)
    if not observable:
        raise UsageError("every fault that fits is unobservable", "measure them without --sample")
    drawn = stratified(chosen, size, seed)
    return drawn, FaultSample(size=len(drawn), of=observable, seed=seed)


def dead(fault: Fault) -> str | None:
    """Why a fault cannot be put in; `None` if it can. Such a fault must never count as found."""
    try:
        with fault.breaks():
            return None
    except Exception as error:  # noqa: BLE001 - a border: the catalogue's code, whatever it does
        return f"the fault {fault.name} cannot be put in: {str(error) or type(error).__name__}"
