"""What two sides' findings of the provider rules come to, held against the published core's.

Both sides replace the published core, so what it commits at the same request of the same cassette
is inherited: counted, not divergent. What only one side commits is a difference. What both commit
and the core does not is one too, which the two sides alone could never show.

A finding is known by its request's index, its rule and its path. Where one side makes a request
more than the other the indices no longer agree; the channel of requests differs there already.
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
    """A finding that makes no difference between the two sides."""

    request: int
    """Index of the request that has it, from 0."""
    finding: ProviderFinding
    by: CommittedBy

    def to_json(self) -> JsonObject:
        """As written to journals and reports: the finding's keys beside the others."""
        return {"request": self.request, "by": self.by.value, **self.finding.to_json()}

    @classmethod
    def fields_of(cls, value: Any) -> Any:
        """The finding's keys are beside the others."""
        return {**value, "finding": value}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreFindings:
    """What the published core commits in one cassette, as far as that is known."""

    keys: frozenset[FindingKey] | None = None
    """`None`: it was not observed, or the observation is of another version of the cassette."""
    mend: str | None = None
    """What makes it known, in words that name the command; `None` where findings alike on both
    sides are to be counted and no more."""


NOT_AT_HAND: Final = CoreFindings()
"""The published core was not asked: findings alike on both sides are counted and settle nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOutcome:
    """Every finding of two runs, sorted."""

    divergences: tuple[Divergence, ...] = ()
    inherited: tuple[CommittedFinding, ...] = ()
    """The published core commits them too."""
    unsettled: tuple[CommittedFinding, ...] = ()
    """Alike on both sides; whether the published core commits them is not known."""


def core_of(control: Observation, candidate: Observation) -> CoreFindings | None:
    """The published core's findings where it is one of the sides; of two versions, the control's.

    A run that decides nothing says nothing of the core either.
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
    known = core.keys
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
        if known is not None and key in known:
            inherited.append(committed)
        elif known is None and by is CommittedBy.BOTH:
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
    """What both sides ask and the API refuses, with the command that settles whose fault it is.

    No doubt: the case compares two sides, and they agree. That both are wrong alike only the
    comparison with the published core can show, here as in every other channel.
    """
    errors = [each for each in unsettled if each.finding.severity is Severity.ERROR]
    if not errors or core.mend is None:
        return ()
    remark = (
        f"both sides ask what the API refuses ({_listed(errors)}), and whether the published core "
        f"does too is not known; {core.mend}"
    )
    return (remark,)


def _listed(findings: Sequence[CommittedFinding]) -> str:
    counts = Counter(each.finding.rule for each in findings)
    first = findings[0]
    rules = ", ".join(f"{rule} {count}" for rule, count in counts.items())
    return f"{rules}; first at requests[{first.request}] {first.finding.path}"
