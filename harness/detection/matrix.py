"""The kill matrix: what found each fault, and the bounds of the kill rate that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from harness.codec import Coded
from harness.detection.bound import lower_bound
from harness.detection.finding import Found, FoundBy
from harness.detection.measuring import Measured
from harness.detection.stratified import FaultSample
from seeded_faults import Behaviour, Fault
from services.wire import Json, JsonObject

__all__ = ["FORMAT", "Conditions", "Matrix", "Outcome", "Row", "Tally"]

FORMAT: Final = 2
"""Version of the document; goes up when a key changes its meaning or goes away."""
NOT_RUN: Literal["not run"] = "not run"


class Outcome(StrEnum):
    """The outcome of a fault."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNOBSERVABLE = "unobservable"


@dataclass(slots=True, kw_only=True)
class Row:
    """One fault; `None` for a part that was not run."""

    fault: Fault
    corpus: Measured | None = None
    generated: Measured | None = None

    @property
    def _parts(self) -> list[Measured]:
        return [part for part in (self.corpus, self.generated) if part is not None]

    @property
    def found(self) -> Found | None:
        """The first finding."""
        return next((part.found for part in self._parts if part.found is not None), None)

    @property
    def outcome(self) -> Outcome:
        """A fault counts as killed if it was found, even if it is marked unobservable."""
        if self.found is not None:
            return Outcome.KILLED
        marked = self.fault.unobservable is not None
        return Outcome.UNOBSERVABLE if marked else Outcome.SURVIVED

    @property
    def never(self) -> bool:
        """Whether no run called what it wraps."""
        return bool(self._parts) and all(part.never for part in self._parts)

    @property
    def unsteady(self) -> list[str]:
        """Cases in which a second look did not confirm the finding."""
        return [name for part in self._parts for name in part.unsteady]

    def to_json(self) -> JsonObject:
        """As written to the JSON file."""
        found = self.found
        return {
            "name": self.fault.name,
            "site": self.fault.site.value,
            "class": self.fault.behaviour.value,
            "corpus": _part(self.corpus),
            "generated": _part(self.generated),
            "outcome": self.outcome.value,
            "kind": None if found is None else found.kind.value,
            "heldOut": self.fault.held_out,
            "closedBy": self.fault.closed_by,
            "unobservable": self.fault.unobservable,
            "neverReached": self.never,
            "unsteady": self.unsteady,
            "says": self.fault.says,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts over some of the faults, without the unobservable ones."""

    about: str
    observable: int
    by_corpus: int
    killed: int
    crashes: int
    """Killed faults that a crash showed."""

    @classmethod
    def of(cls, about: str, rows: Iterable[Row], *, gaps_open: bool = False) -> Tally:
        """Count. `gaps_open`: ignore what cassettes found that were added because of a fault."""
        counted = [row for row in rows if row.outcome is not Outcome.UNOBSERVABLE]
        shown = [row for row in counted if not (gaps_open and row.fault.closed_by)]
        found = [row.found for row in shown]
        return cls(
            about=about,
            observable=len(counted),
            by_corpus=sum(row.corpus is not None and row.corpus.found is not None for row in shown),
            killed=sum(each is not None for each in found),
            crashes=sum(each is not None and each.kind is FoundBy.CRASH for each in found),
        )

    @property
    def bound(self) -> float:
        """The lower 95 % bound of the kill rate."""
        return lower_bound(self.killed, self.observable)

    def to_json(self) -> JsonObject:
        """As written to the JSON file."""
        return {
            "about": self.about,
            "observable": self.observable,
            "byCorpus": self.by_corpus,
            "killed": self.killed,
            "crashKills": self.crashes,
            "channelKills": self.killed - self.crashes,
            "lowerBound95": round(self.bound, 4),
            "lowerBound95ByCorpus": round(lower_bound(self.by_corpus, self.observable), 4),
        }


@dataclass(slots=True, kw_only=True)
class Conditions(Coded):
    """What a matrix was measured with."""

    waivers: int
    """Waivers in force."""
    projection_rules: dict[str, int]
    """Number of projection rules by comparison."""
    cassettes: int
    profile: str
    seed: int
    examples: int = 0
    """Scenarios of the generated run."""
    published_core_in_generated: bool = False
    """Whether the published core was the control of service faults in the generated run."""
    versions: dict[str, str] = field(default_factory=dict)
    sample: FaultSample | None = None
    """How the faults were drawn; `None` if all were chosen."""
    measured: Mapping[str, Json] = field(default_factory=dict)
    """Digests of what was measured, and the day (`harness.gate.facts`)."""


@dataclass(slots=True, kw_only=True)
class Matrix:
    """A whole measurement. Rows are in the order of the catalogue."""

    rows: list[Row]
    conditions: Conditions
    planned: int
    """Number of faults to measure."""
    interrupted: bool = False

    @property
    def killed(self) -> list[Row]:
        """The faults that were found."""
        return [row for row in self.rows if row.outcome is Outcome.KILLED]

    @property
    def survivors(self) -> list[Row]:
        """The observable faults that were not found."""
        return [row for row in self.rows if row.outcome is Outcome.SURVIVED]

    @property
    def unobservable(self) -> list[Row]:
        """The faults that no run can show."""
        return [row for row in self.rows if row.outcome is Outcome.UNOBSERVABLE]

    @property
    def left_out(self) -> dict[str, str]:
        """Cases that could not show any fault, with the reason."""
        parts = [part for row in self.rows for part in (row.corpus, row.generated) if part]
        return {name: why for part in parts for name, why in part.left_out.items()}

    def tallies(self) -> list[Tally]:
        """A tally for each class of behaviour that was measured."""
        return [
            Tally.of(behaviour.value, rows)
            for behaviour in Behaviour
            if (rows := [row for row in self.rows if row.fault.behaviour is behaviour])
        ]

    def totals(self) -> list[Tally]:
        """Tallies of all faults, of those written with the corpus, and of those written after it.

        The last one ignores what cassettes found that were added because of a fault: it measures
        the corpus with faults that it was not made for.
        """
        held_out = [row for row in self.rows if row.fault.held_out]
        others = [row for row in self.rows if not row.fault.held_out]
        return [
            Tally.of("all", self.rows),
            Tally.of("written with the corpus", others),
            Tally.of("held out", held_out, gaps_open=True),
        ]

    def to_json(self) -> JsonObject:
        """The JSON file's document."""
        return {
            "kills": FORMAT,
            "faults": [row.to_json() for row in self.rows],
            "classes": [tally.to_json() for tally in self.tallies()],
            "totals": [tally.to_json() for tally in self.totals()],
            "leftOut": self.left_out,
            "conditions": self.conditions.to_json(),
            "planned": self.planned,
            "interrupted": self.interrupted,
        }


def _part(part: Measured | None) -> Json:
    if part is None:
        return NOT_RUN
    return None if part.found is None else part.found.to_json()
