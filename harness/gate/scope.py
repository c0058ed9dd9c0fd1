"""`Scope`: what every condition of the gate is judged by, and what a condition comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from harness.coverage.contract import Contract
from harness.gate.answer import Answer, Condition, Measurement, Reason, ReasonKind, answer_of
from harness.gate.evidence import Evidence
from harness.gate.gates import Gates
from harness.gate.rules import LegRule, PhaseGates, ProfileGate
from harness.inventory import CODE, Inventory
from harness.parity.waivers import Waivers

__all__ = ["FOLDER", "Judged", "Scope", "counted", "listed"]

FOLDER: Final = Path("parity-report")
"""Where measurements are left and looked for unless the user names another place."""
_NAMED: Final = 3
_SYSTEM: Final = frozenset({"python", "platform", "node", "temporary folder"})
"""What may differ between machines; what was run depends on the packages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One condition, and why it does not hold where it doesn't."""

    condition: Condition
    reasons: tuple[Reason, ...] = ()
    lacks: tuple[str, ...] = ()
    """The legs without which it is not known, by name: that they lack is a reason of their own."""

    @classmethod
    def of(
        cls,
        name: str,
        about: str,
        says: str,
        reasons: Iterable[Reason],
        *,
        lacks: Sequence[str] = (),
    ) -> Judged:
        """A condition whose answer follows from its reasons.

        One that holds over less than was asked for, as legs lack, is not known to hold.
        """
        found = tuple(each.model_copy(update={"condition": about}) for each in reasons)
        answer = answer_of(found)
        if answer is Answer.YES and lacks:
            answer = Answer.UNKNOWN
        condition = Condition(name=name, about=about, answer=answer, says=says)
        return cls(condition=condition, reasons=found, lacks=tuple(lacks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is judged, and by what."""

    evidence: Evidence
    policy: Gates
    phase: str
    profile: str
    as_of: date
    current: Inventory
    """What is here now."""
    waivers: Waivers
    contract: Contract
    environment: Mapping[str, str] = field(default_factory=dict)
    """The machine that asks, in words; nothing is compared with what it does not say."""
    folder: Path = FOLDER
    """Where the measurements that are proposed leave what they measure."""
    seed: int = 0
    """Of the samples of a release: another one for each commit."""

    @property
    def gates(self) -> PhaseGates:
        """What the phase asks for."""
        return self.policy.of_phase(self.phase)

    @property
    def legs(self) -> tuple[LegRule, ...]:
        """The legs that the profile asks for."""
        return self.gates.legs(self.profile)

    def lacking(self, legs: Iterable[LegRule]) -> list[str]:
        """The legs that the profile asks for and that are not among these, by name."""
        there = {leg.name for leg in legs}
        return [leg.name for leg in self.legs if leg.name not in there]

    @property
    def rules(self) -> ProfileGate:
        """What the profile asks for."""
        return self.gates.gate(self.profile)

    def moved(self, components: Mapping[str, str], *more: str) -> list[str]:
        """The components, of code and `more`, that are not what is here now."""
        now = self.current.digests
        return [name for name in (*CODE, *more) if components.get(name, "") != now.get(name, "")]

    def other_packages(self, environment: Mapping[str, str]) -> list[str]:
        """The packages with which something was measured, and that are otherwise here."""
        return [
            f"{name} {environment[name]} ({self.environment[name]} is here)"
            for name in sorted({*environment} & {*self.environment} - _SYSTEM)
            if environment[name] != self.environment[name]
        ]

    def too_old(self, day: date) -> str:
        """Why what was measured on `day` is not of these days, in words; empty if it is.

        A day later is as good as the day itself: nights go past midnight.
        """
        days = (self.as_of - day).days
        if days < -1:
            return f"it is of {day}, which is after {self.as_of}"
        most = self.rules.max_age_days
        if days <= most:
            return ""
        return f"it is {counted(days, 'day')} old at {self.as_of}, and {most} are allowed"

    def over_corpus(self, *words: str) -> tuple[str, ...]:
        """The words of a command over the whole corpus, without `parity`."""
        return (words[0], *self.policy.corpus, *words[1:])

    def leg_measurement(self, leg: LegRule) -> Measurement:
        """What runs a leg whole."""
        control = leg.control
        if self.rules.baselines and control == "upstream":
            control = "baseline:baselines/upstream"
        name = f"{leg.control}-{leg.candidate}".replace("+", "-then-")
        sides = ["--control", control, "--candidate", leg.candidate]
        journal = ["--journal", str(self.folder / f"{name}.jsonl")]
        return Measurement(
            kind="leg",
            about=leg.name,
            words=self.over_corpus("run", *sides, *journal),
            control=control,
            candidate=leg.candidate,
            units=len(self.current.components["corpus"].files),
        )

    def reason(self, kind: ReasonKind, about: str, says: str, change: str | Measurement) -> Reason:
        """A reason of this scope; `change` is a measurement where one settles it."""
        if isinstance(change, Measurement):
            return Reason(kind=kind, about=about, says=says, change=change.command, measure=change)
        return Reason(kind=kind, about=about, says=says, change=change)


def counted(count: int, what: str, many: str | None = None) -> str:
    """`1 case`, `2 cases`, `12,000 scenarios`."""
    return f"{count:,} {what if count == 1 else many or f'{what}s'}"


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
