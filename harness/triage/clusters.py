"""Findings by cluster: of many cases that fail alike, the one to look at first.

A cluster is a fingerprint of the first cause: channel, kind, label and place without its numbers.
Cases of one cluster need not have one cause, but whoever mends one is best served by the smallest.
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
    """Cases whose first causes are of one sort."""

    fingerprint: str
    place: str
    """Where the representative's first cause stands, for people."""
    cases: tuple[str, ...]
    """By name, sorted; the representative among them."""
    representative: str
    """The smallest cassette, to look at first."""


def clusters(
    cases: Iterable[CaseResult], size: Callable[[CaseResult], int] | None = None
) -> tuple[Cluster, ...]:
    """The clusters of the divergent ones among `cases`, the largest first.

    Args:
        cases: Settled results.
        size: How large a case's cassette is, in any unit; without it, by how much of it differs.
    """
    found: dict[str, list[tuple[CaseResult, Divergence | None]]] = {}
    for case in cases:
        if case.verdict is CaseVerdict.DIVERGENT:
            cause = first_cause(case)
            found.setdefault(_key(case, cause), []).append((case, cause))
    made = [_cluster(key, members, size or _extent) for key, members in found.items()]
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


def _key(case: CaseResult, cause: Divergence | None) -> str:
    return f"cut-{case.cut[0].value}" if cause is None else cause.fingerprint


def _extent(case: CaseResult) -> int:
    return len(case.divergences)
