"""Sorts both sides' findings of the provider rules, given those of the published core.

A finding that the published core has at the same request of the same cassette is inherited: it is
counted and no difference. A finding of one side alone is a difference, and so is one that both
sides have and the published core has not.

Request index, rule and path identify a finding. Where one side makes an extra request the indices
do not match; there the channel of requests differs anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from harness.codec import Coded
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.threads import by_thread
from harness.provider.rules import ProviderFinding, Severity
from harness.replay.observation import Observation
from services.wire import JsonObject

__all__ = [
    "NOT_AT_HAND",
    "CommittedBy",
    "CommittedFinding",
    "CoreFindings",
    "FindingKey",
    "ProviderOutcome",
    "core_of",
    "provider_outcome",
    "unsettled_remarks",
]

_CORE: Final = "upstream"
"""The published core's name among the runtimes, whatever its version."""

FindingKey = tuple[int, str, str]
"""The request's index from 0, the rule's id, the path."""


class CommittedBy(StrEnum):
    """Which side has a finding."""

    BOTH = "both"
    CONTROL = "control"
    CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedFinding(Coded):
    """A finding that is no difference between the sides."""

    request: int
    """Index of its request, from 0."""
    finding: ProviderFinding
    by: CommittedBy

    def to_json(self) -> JsonObject:
        """For journals and reports: the finding's keys beside the others."""
        return {"request": self.request, "by": self.by.value, **self.finding.to_json()}

    @classmethod
    def fields_of(cls, value: Any) -> Any:
        """The finding's keys are beside the others."""
        return {**value, "finding": value}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreFindings:
    """The published core's findings in one cassette, as far as they are known."""

    keys: frozenset[FindingKey] | None = None
    """`None` where this version of the cassette was not observed."""
    mend: str | None = None
    """How to observe it, with the command; `None` if findings of both sides are only counted."""


NOT_AT_HAND: Final = CoreFindings()
"""The published core was not observed: findings of both sides are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOutcome:
    """The findings of two runs, sorted."""

    divergences: tuple[Divergence, ...] = ()
    inherited: tuple[CommittedFinding, ...] = ()
    """Findings that the published core has, too."""
    unsettled: tuple[CommittedFinding, ...] = ()
    """Findings of both sides while those of the published core are not known."""


def core_of(control: Observation, candidate: Observation) -> CoreFindings | None:
    """The findings of the side that is the published core, the control first.

    `None` if neither side is, or if its run decides nothing.
    """
    for seen in (control, candidate):
        is_core = seen.runtime.partition("@")[0] == _CORE
        if is_core and (seen.blocker is None or seen.hung):
            return CoreFindings(keys=frozenset(_findings(seen)))
    return None


def provider_outcome(
    control: Observation, candidate: Observation, core: CoreFindings
) -> ProviderOutcome:
    """Sort the findings of two runs, in order of their requests."""
    here, there = _findings(control), _findings(candidate)
    divergences: list[Divergence] = []
    inherited: list[CommittedFinding] = []
    unsettled: list[CommittedFinding] = []
    for key in sorted({**here, **there}, key=lambda key: key[0]):
        mine, theirs = here.get(key), there.get(key)
        by = CommittedBy.BOTH
        if mine is None or theirs is None:
            by = CommittedBy.CANDIDATE if mine is None else CommittedBy.CONTROL
        finding = mine or theirs
        assert finding is not None
        committed = CommittedFinding(request=key[0], finding=finding, by=by)
        if core.keys is not None and key in core.keys:
            inherited.append(committed)
        elif core.keys is None and by is CommittedBy.BOTH:
            unsettled.append(committed)
        else:
            divergences.append(_divergence(control.name, key, mine, theirs))
    return ProviderOutcome(
        divergences=tuple(divergences), inherited=tuple(inherited), unsettled=tuple(unsettled)
    )


def _findings(seen: Observation) -> dict[FindingKey, ProviderFinding]:
    return {
        (index, finding.rule, finding.path): finding
        for index, request in enumerate(by_thread(seen).requests)
        for finding in request.provider
    }


def _divergence(
    cassette: str, key: FindingKey, mine: ProviderFinding | None, theirs: ProviderFinding | None
) -> Divergence:
    request, rule, path = key
    kind = Kind.UNINHERITED
    if mine is None or theirs is None:
        kind = Kind.EXTRA if mine is None else Kind.MISSING
    return Divergence(
        cassette=cassette,
        channel=ChannelName.PROVIDER,
        kind=kind,
        label=rule,
        control_index=None if mine is None else request,
        candidate_index=None if theirs is None else request,
        path=path,
        control=ABSENT if mine is None else mine.message,
        candidate=ABSENT if theirs is None else theirs.message,
    )


def unsettled_remarks(unsettled: Sequence[CommittedFinding], core: CoreFindings) -> tuple[str, ...]:
    """A remark on requests of both sides that the API refuses, with the command that settles it.

    It is no doubt: the sides agree, and only a comparison with the published core can show that
    both are wrong.
    """
    errors = [each for each in unsettled if each.finding.severity is Severity.ERROR]
    if not errors or core.mend is None:
        return ()
    remark = (
        f"both sides send requests that the API refuses ({_listed(errors)}), and it is not known "
        f"whether the published core does, too; {core.mend}"
    )
    return (remark,)


def _listed(findings: Sequence[CommittedFinding]) -> str:
    counts = Counter(each.finding.rule for each in findings)
    first = findings[0]
    rules = ", ".join(f"{rule} {count}" for rule, count in counts.items())
    return f"{rules}; first at requests[{first.request}] {first.finding.path}"
