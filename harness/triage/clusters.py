"""Clusters of divergent cases, each with the case to look at first.

The cases of a cluster share the fingerprint of their first cause: channel, kind, label, and place
without its numbers. They need not have the same cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.explain import first_cause
from harness.parity.divergence import Divergence
from harness.parity.verdict import CaseResult, CaseVerdict

__all__ = ["Cluster", "clusters"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Cases whose first causes have the same fingerprint."""

    fingerprint: str
    place: str
    """The place of the representative's first cause, in words."""
    cases: tuple[str, ...]
    """Sorted names, with the representative."""
    representative: str
    """The smallest cassette, to look at first."""


def clusters(
    cases: Iterable[CaseResult], size: Callable[[CaseResult], int] | None = None
) -> tuple[Cluster, ...]:
    """The clusters of the divergent cases, the largest first.

    Args:
        cases: Settled results.
        size: The size of a case's cassette in any unit; by default the number of divergences.
    """
    found: dict[str, list[tuple[CaseResult, Divergence | None]]] = {}
    for case in cases:
        if case.verdict is CaseVerdict.DIVERGENT:
            cause = first_cause(case)
            key = f"cut-{case.cut[0].value}" if cause is None else cause.fingerprint
            found.setdefault(key, []).append((case, cause))
    size = size or (lambda case: len(case.divergences))
    made = [_cluster(key, members, size) for key, members in found.items()]
    return tuple(sorted(made, key=lambda cluster: (-len(cluster.cases), cluster.representative)))


def _cluster(
    key: str,
    members: list[tuple[CaseResult, Divergence | None]],
    size: Callable[[CaseResult], int],
) -> Cluster:
    case, cause = min(members, key=lambda each: (size(each[0]), each[0].cassette))
    return Cluster(
        fingerprint=key,
        place=case.cut[0].value if cause is None else cause.place,
        cases=tuple(sorted(member.cassette for member, _ in members)),
        representative=case.cassette,
    )
