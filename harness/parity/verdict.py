"""`CaseResult`: the verdict on one case, and everything that it rests on.

Workers return it, journals keep it, reports show it. The verdict follows from its parts by one
table (`decide`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from harness.codec import Coded
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.provider import CommittedFinding
from services.wire import JsonObject

__all__ = ["CaseResult", "CaseVerdict", "Noise", "decide", "leftover_doubts"]

_LISTED: Final = 20
"""Undeclared steps that a doubt lists one by one."""


class CaseVerdict(StrEnum):
    """The three verdicts. Missing data never makes a verdict better."""

    PARITY = "parity"
    DIVERGENT = "divergent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Coded):
    """A place at which the control differs from itself."""

    place: str
    hides: int
    """How many differences between the sides are at this place, and may be noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult(Coded):
    """One cassette through both runtimes, judged."""

    cassette: str
    blockers: tuple[str, ...] = ()
    """Why nothing can be decided: a stalled run, an error of the harness, a noisy control."""
    unplayable: bool = False
    """Whether, on both sides and for the same reason, a user of the surface cannot do what the
    cassette asks for. The reason is the blocker."""
    doubts: tuple[str, ...] = ()
    """Why agreement is not enough: undeclared unused steps."""
    remarks: tuple[str, ...] = ()
    """Notable facts that both sides share."""
    divergences: tuple[Divergence, ...] = ()
    """Every difference, waived or not, causes first."""
    waived: Mapping[int, str] = field(default_factory=dict)
    """Index into `divergences` to the id of the waiver that covers it."""
    cut: tuple[ChannelName, ...] = ()
    """Channels with more differences than are listed; no waiver covers the others."""
    rules: Mapping[str, int] = field(default_factory=dict)
    """Projection rule to the number of differences that it hid."""
    inherited: tuple[CommittedFinding, ...] = ()
    """Findings of the provider rules that the published core has, too."""
    unsettled: tuple[CommittedFinding, ...] = ()
    """Findings of both sides while those of the published core are not known."""
    noise: tuple[Noise, ...] = ()
    digests: tuple[str, str] = ("", "")
    """Digests of the observations of control and candidate."""
    runtimes: tuple[str, str] = ("", "")
    """Names of the observed runtimes (of a baseline: its own); empty if nothing was compared."""
    phase: str | None = None
    """The cassette's rollout phase."""
    contract: tuple[str, ...] = ()
    """Contract ids of the behaviours that the cassette exercises."""
    reached: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The probes that control and candidate reached, sorted (`harness.coverage`)."""
    cost: tuple[JsonObject, JsonObject] | None = None
    """The item of the cost channel of each side: model calls, tokens, contents sent."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Channel that was not compared → the reason (`harness.parity.shown`)."""
    timelines: str = ""
    """Both runs side by side, packed (`harness.timeline`). Empty where nothing was compared, and at
    parity unless the caller asked for them."""

    @property
    def verdict(self) -> CaseVerdict:
        """The verdict."""
        return decide(blockers=self.blockers, open=bool(self.open or self.cut), doubts=self.doubts)

    @property
    def open(self) -> tuple[Divergence, ...]:
        """The divergences that no waiver covers."""
        return tuple(
            found for index, found in enumerate(self.divergences) if index not in self.waived
        )

    @property
    def family(self) -> str:
        """The folder of the cassette's name: `loops` for `loops/tool_nudge`."""
        return self.cassette.rpartition("/")[0] or self.cassette

    @classmethod
    def undecided(cls, cassette: str, reason: str) -> CaseResult:
        """A case that could not be decided."""
        return cls(cassette=cassette, blockers=(reason,))

    def to_json(self) -> JsonObject:
        """For journals and reports: each divergence names its waiver."""
        fields = Coded.to_json(self)
        waived = fields.pop("waived")
        for index, found in enumerate(fields["divergences"]):
            found["waivedBy"] = waived.get(index)
        return {"cassette": self.cassette, "verdict": self.verdict.value, **fields}

    @classmethod
    def fields_of(cls, value: Any) -> Any:
        """Collect the waivers that the divergences name."""
        waivers = (found["waivedBy"] for found in value["divergences"])
        waived = {index: waiver for index, waiver in enumerate(waivers) if waiver is not None}
        return {**value, "waived": waived}


def decide(*, blockers: Collection[str], open: bool, doubts: Collection[str]) -> CaseVerdict:
    """The verdict by this table.

    | blockers | open divergences | doubts | verdict |
    | --- | --- | --- | --- |
    | some | any | any | inconclusive |
    | none | some | any | divergent |
    | none | none | some | inconclusive |
    | none | none | none | parity |
    """
    if blockers:
        return CaseVerdict.INCONCLUSIVE
    if open:
        return CaseVerdict.DIVERGENT
    return CaseVerdict.INCONCLUSIVE if doubts else CaseVerdict.PARITY


def leftover_doubts(
    control: Collection[int], candidate: Collection[int], declared: Collection[int]
) -> tuple[str, ...]:
    """Doubts about model steps that neither side requested and the cassette does not declare.

    Steps that only one side leaves unused are a divergence instead.
    """
    undeclared = sorted(set(control) - set(declared))
    if set(control) != set(candidate) or not undeclared:
        return ()
    steps, listed = ", ".join(_ranges(undeclared)), str(undeclared)
    if len(undeclared) > _LISTED:
        listed = "[…]"
    mend = f"if that is intended, declare `unused: {listed}` in the cassette"
    return (f"neither side requested {steps}; {mend}",)


def _ranges(steps: Sequence[int]) -> Iterator[str]:
    """Sorted steps in words; three or more in a row are one range."""
    for _, group in groupby(enumerate(steps), lambda each: each[1] - each[0]):
        row = [step for _, step in group]
        if len(row) > 2:
            yield f"model[{row[0]}] to model[{row[-1]}]"
        else:
            yield from (f"model[{step}]" for step in row)
