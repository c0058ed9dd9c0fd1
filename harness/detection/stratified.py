"""A stratified sample of the catalogue: classes and sites keep their shares.

The seed and the names of the faults decide which ones are drawn. Unobservable faults are left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from harness.canonical import sha256_hex
from harness.codec import Coded
from seeded_faults import Fault

__all__ = ["FaultSample", "stratified"]

_LEAST: Final = 4
"""Minimum of faults of a class, where the sample has room."""

Stratum = TypeVar("Stratum", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultSample(Coded):
    """How a sample was drawn."""

    size: int
    of: int
    """Observable faults that it was drawn from."""
    seed: int


def stratified(faults: Sequence[Fault], size: int, seed: int) -> list[Fault]:
    """Draw `size` observable faults, or all if there are fewer, in the catalogue's order.

    Each class gets its share of the whole, at least four while there is room. Each site gets its
    share of the class. Within a site, every fault is equally likely.
    """
    pool = [fault for fault in faults if fault.unobservable is None]
    drawn: set[str] = set()
    classes = _grouped(pool, [fault.behaviour for fault in pool])
    quotas = _shared({name: len(each) for name, each in classes.items()}, size, _LEAST)
    for name, members in classes.items():
        sites = _grouped(members, [fault.site for fault in members])
        parts = _shared({site: len(each) for site, each in sites.items()}, quotas[name], 0)
        for site, each in sites.items():
            each.sort(key=lambda fault: sha256_hex(f"{seed} {fault.name}"))
            drawn.update(fault.name for fault in each[: parts[site]])
    return [fault for fault in pool if fault.name in drawn]


def _grouped(faults: Sequence[Fault], keys: Sequence[Stratum]) -> dict[Stratum, list[Fault]]:
    groups: dict[Stratum, list[Fault]] = {}
    for fault, key in zip(faults, keys, strict=True):
        groups.setdefault(key, []).append(fault)
    return groups


def _shared(sizes: Mapping[Stratum, int], total: int, least: int) -> dict[Stratum, int]:
    """Seats for each stratum: `least` each, the rest one by one (Webster and Sainte-Laguë)."""
    least = min(least, total // len(sizes)) if sizes else 0
    given = {name: min(least, size) for name, size in sizes.items()}
    for _ in range(min(total, sum(sizes.values())) - sum(given.values())):
        open_ = [name for name, size in sizes.items() if given[name] < size]
        given[max(open_, key=lambda name: sizes[name] / (2 * given[name] + 1))] += 1
    return given
