"""A sample of the catalogue that keeps its make-up: so many faults of each class and site.

Which faults are drawn follows from the seed and their names alone. Ones that are marked
unobservable are left out, as they are of every count.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from harness.canonical import sha256_hex
from seeded_faults import Fault
from services.wire import JsonObject

__all__ = ["FaultSample", "stratified"]

_LEAST: Final = 4
"""Faults of each class at least, where there is room: fewer say nothing of a class."""

Stratum = TypeVar("Stratum", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultSample:
    """How a sample was drawn."""

    size: int
    of: int
    """Observable faults that it was drawn from."""
    seed: int

    def to_json(self) -> JsonObject:
        """As written to the kill matrix."""
        return {"size": self.size, "of": self.of, "seed": self.seed}


def stratified(faults: Sequence[Fault], size: int, seed: int) -> list[Fault]:
    """Draw `size` observable faults, in the catalogue's order; all if there are not more.

    Classes get their share of the whole, but four at least while there is room; sites theirs of the
    class. Within these every fault is as likely as another.
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
    """Seats for each stratum: the least first, the rest one by one (Webster and Sainte-Laguë)."""
    least = min(least, total // len(sizes)) if sizes else 0
    given = {name: min(least, size) for name, size in sizes.items()}
    for _ in range(min(total, sum(sizes.values())) - sum(given.values())):
        open_ = [name for name, size in sizes.items() if given[name] < size]
        given[max(open_, key=lambda name: sizes[name] / (2 * given[name] + 1))] += 1
    return given
