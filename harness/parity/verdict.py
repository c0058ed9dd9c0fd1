"""What a case comes to: parity, divergent or inconclusive, and everything that the answer rests on.

`CaseResult` is what a worker hands back, what the journal keeps and what reports show. Its verdict
follows from its parts by one table (`decide`), never from anything outside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harness.codec import Coded
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.provider import CommittedFinding
from services.wire import JsonObject

__all__ = ["CaseResult", "CaseVerdict", "Noise", "decide", "leftover_doubts"]


class CaseVerdict(StrEnum):
    """The three answers. Missing data never makes one better."""

    PARITY = "parity"
    DIVERGENT = "divergent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Coded):
    """A place at which the control differs from itself."""

    place: str
    hides: int
    """How many differences between the sides stand at such a place, and may be noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult(Coded):
    """One cassette through both runtimes, judged."""

    cassette: str
    blockers: tuple[str, ...] = ()
    """Why nothing can be decided: a run that stalled, a harness that failed, a noisy control."""
    doubts: tuple[str, ...] = ()
    """Why agreement is not enough: steps that were left over without being declared."""
    remarks: tuple[str, ...] = ()
    """What both sides did alike that is worth knowing."""
    divergences: tuple[Divergence, ...] = ()
    """All that differs, waived or not, causes first."""
    waived: Mapping[int, str] = field(default_factory=dict)
    """Index into `divergences` to the id of the waiver that covers it."""
    cut: tuple[ChannelName, ...] = ()
    """Channels that differ in more places than are described; no waiver covers what isn't."""
    rules: Mapping[str, int] = field(default_factory=dict)
    """Projection rule to the number of differences that it hid."""
    inherited: tuple[CommittedFinding, ...] = ()
    """What of the provider rules the published core breaks as well, at the same requests."""
    unsettled: tuple[CommittedFinding, ...] = ()
    """What both sides break of them while it is not known whether the published core does."""
    noise: tuple[Noise, ...] = ()
    digests: tuple[str, str] = ("", "")
    """Digest of all that was observed of control and candidate."""
    runtimes: tuple[str, str] = ("", "")
    """Control and candidate, by the names of the runtimes that were observed: of a baseline the one
    that it was made of. Empty where nothing was compared."""
    phase: str | None = None
    """The rollout phase that the cassette belongs to."""
    contract: tuple[str, ...] = ()
    """The behaviours that the cassette says it exercises, by their ids in the contract."""
    reached: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """What the probes saw happen in control and candidate, sorted (`harness.coverage`)."""
    cost: tuple[JsonObject, JsonObject] | None = None
    """The cost channel's one item of each side: model calls, tokens, contents sent."""
    timelines: str = ""
    """Both runs side by side, packed (`harness.timeline`); empty where nothing was compared, and
    of a case at parity unless the comparison was asked for them."""

    @property
    def verdict(self) -> CaseVerdict:
        """The answer."""
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
        """A case that could not be decided, and why."""
        return cls(cassette=cassette, blockers=(reason,))

    def to_json(self) -> JsonObject:
        """As written to journals and reports: each divergence names its waiver."""
        fields = Coded.to_json(self)
        waived = fields.pop("waived")
        for index, found in enumerate(fields["divergences"]):
            found["waivedBy"] = waived.get(index)
        return {"cassette": self.cassette, "verdict": self.verdict.value, **fields}

    @classmethod
    def fields_of(cls, value: Any) -> Any:
        """The waivers are those that the divergences name."""
        waivers = (found["waivedBy"] for found in value["divergences"])
        waived = {index: waiver for index, waiver in enumerate(waivers) if waiver is not None}
        return {**value, "waived": waived}


def decide(*, blockers: Collection[str], open: bool, doubts: Collection[str]) -> CaseVerdict:
    """The table: a run that could not be observed decides nothing, whatever else was seen of it.

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
    """Doubts about model steps that neither side asked for though none is declared unused.

    Left over differently is no doubt but a divergence, and is found elsewhere.
    """
    undeclared = sorted(set(control) - set(declared))
    if set(control) != set(candidate) or not undeclared:
        return ()
    steps = ", ".join(f"model[{step}]" for step in undeclared)
    mend = f"if that is meant, declare `unused: {undeclared}` in the cassette"
    return (f"neither side asked for {steps}; {mend}",)
