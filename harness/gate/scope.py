"""`Scope`: the input of every condition of the gate. `Judged`: a condition's outcome."""

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
"""Default folder of the evidence, for reading and writing."""
_NAMED: Final = 3
_SYSTEM: Final = frozenset({"python", "platform", "node", "temporary folder"})
"""Parts of the environment that may differ between machines; packages may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One condition, with the reasons why it does not hold."""

    condition: Condition
    reasons: tuple[Reason, ...] = ()
    lacks: tuple[str, ...] = ()
    """Names of missing legs that the condition depends on; each has its own reason."""

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
        """Make a condition whose answer follows from its reasons; unknown if legs are missing."""
        found = tuple(each.model_copy(update={"condition": about}) for each in reasons)
        answer = answer_of(found)
        if answer is Answer.YES and lacks:
            answer = Answer.UNKNOWN
        condition = Condition(name=name, about=about, answer=answer, says=says)
        return cls(condition=condition, reasons=found, lacks=tuple(lacks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The question to the gate, and all input of its judgement."""

    evidence: Evidence
    policy: Gates
    phase: str
    profile: str
    as_of: date
    current: Inventory
    """The current files; evidence of other files is stale."""
    own: Inventory | None = None
    """The same with the cassettes of the phase itself, which the legs behind surfaces have; `None`:
    all cassettes are of that phase."""
    waivers: Waivers
    """The current waivers, which are applied to all legs anew."""
    contract: Contract
    environment: Mapping[str, str] = field(default_factory=dict)
    """This machine: component → version. A component that it lacks is not compared."""
    folder: Path = FOLDER
    """The folder into which proposed measurements write their evidence."""
    seed: int = 0
    """Seed of a release's samples, different for each commit."""
    since: str = ""
    """The revision whose policy judges; empty for that of the local files."""

    @property
    def gates(self) -> PhaseGates:
        """The requirements of the phase."""
        return self.policy.of_phase(self.phase)

    @property
    def legs(self) -> tuple[LegRule, ...]:
        """The legs that the profile requires."""
        return self.gates.legs(self.profile)

    def lacking(self, legs: Iterable[LegRule]) -> list[str]:
        """Names of the profile's legs that are not among `legs`."""
        there = {leg.name for leg in legs}
        return [leg.name for leg in self.legs if leg.name not in there]

    @property
    def rules(self) -> ProfileGate:
        """The requirements of the profile."""
        return self.gates.gate(self.profile)

    def inputs_of(self, leg: LegRule) -> Inventory:
        """Return the current inputs of a leg."""
        return self.current if leg.surface is None or self.own is None else self.own

    def moved(
        self, components: Mapping[str, str], *more: str, inputs: Inventory | None = None
    ) -> list[str]:
        """Return the components of code and `more` that differ from those of `inputs`.

        Without `inputs`, all current ones are meant.
        """
        now = (inputs or self.current).digests
        return [name for name in (*CODE, *more) if components.get(name, "") != now.get(name, "")]

    def other_packages(self, environment: Mapping[str, str]) -> list[str]:
        """Return the packages of a measurement that have another version here."""
        return [
            f"{name} {environment[name]} ({self.environment[name]} is here)"
            for name in sorted({*environment} & {*self.environment} - _SYSTEM)
            if environment[name] != self.environment[name]
        ]

    def too_old(self, day: date) -> str:
        """Return why a measurement of `day` is too old, as a clause; empty if it is not.

        One day after `as_of` is allowed, since a nightly run may pass midnight.
        """
        days = (self.as_of - day).days
        if days < -1:
            return f"it is of {day}, which is after {self.as_of}"
        most = self.rules.max_age_days
        if days <= most:
            return ""
        return f"it is {counted(days, 'day')} old at {self.as_of}, and {most} are allowed"

    def over_corpus(self, *words: str) -> tuple[str, ...]:
        """Return the words of a command over the whole corpus, without `parity`."""
        return (words[0], *self.policy.corpus, *words[1:])

    def leg_measurement(self, leg: LegRule) -> Measurement:
        """Return the command that runs a leg completely."""
        control = leg.control
        if self.rules.baselines and control == "upstream":
            control = "baseline:baselines/upstream"
        name = f"{leg.control}-{leg.candidate}".replace("+", "-then-").replace(":", "-")
        only = ["--phase", self.phase] if leg.surface else []
        sides = ["--control", control, "--candidate", leg.candidate]
        journal = ["--journal", str(self.folder / f"{name}.jsonl")]
        return Measurement(
            kind="leg",
            about=leg.name,
            words=self.over_corpus("run", *only, *sides, *journal),
            control=control,
            candidate=leg.candidate,
            units=len(self.current.components["corpus"].files),
        )

    def reason(self, kind: ReasonKind, about: str, says: str, change: str | Measurement) -> Reason:
        """Make a reason; `change` is the measurement that settles it, or advice."""
        if isinstance(change, Measurement):
            return Reason(kind=kind, about=about, says=says, change=change.command, measure=change)
        return Reason(kind=kind, about=about, says=says, change=change)


def counted(count: int, what: str, many: str | None = None) -> str:
    """Format a count with its noun: `1 case`, `2 cases`, `12,000 scenarios`."""
    return f"{count:,} {what if count == 1 else many or f'{what}s'}"


def listed(names: Sequence[str]) -> str:
    """Join the first few names, and the number of the others."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
