"""A sample of mutants with its results: counts, shares, bounds, and the JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.detection.bound import lower_bound
from harness.mutants.choosing import Reach
from harness.mutants.mutant import Mutant
from harness.mutants.record import Equivalents
from harness.mutants.result import Measured, Outcome
from harness.mutants.source import Source
from services.wire import Json, JsonObject

__all__ = ["FORMAT", "Cluster", "Row", "Sample", "Tally", "draw", "waiting"]

FORMAT: Final = 1
"""Version of the document; goes up when a key changes its meaning or goes away."""


@dataclass(slots=True)
class Row:
    """One mutant of the sample."""

    mutant: Mutant
    measured: Measured | None = None
    """`None` until it was run."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over mutants that are reached and not equivalent."""

    about: str
    tried: int
    found: int
    crashes: int
    """Those that were found because they crashed."""
    time_limits: int

    @classmethod
    def of(cls, about: str, rows: Iterable[Row]) -> Tally:
        """Count `rows`, without mutants that are unreached or equivalent.

        A mutant that an interrupted sample has not run counts as not found: survivors take the
        longest, so the share of the others would be too high.
        """
        outcomes = [row.measured.outcome if row.measured else Outcome.SURVIVED for row in rows]
        tried = [each for each in outcomes if each.found or each is Outcome.SURVIVED]
        return cls(
            about=about,
            tried=len(tried),
            found=sum(each.found for each in tried),
            crashes=tried.count(Outcome.CRASH),
            time_limits=tried.count(Outcome.TIME_LIMIT),
        )

    @property
    def share(self) -> float:
        """The part that was found; 0 where nothing was tried."""
        return self.found / self.tried if self.tried else 0.0

    @property
    def bound(self) -> float:
        """The lower 95 % bound of the part that is found."""
        return lower_bound(self.found, self.tried)

    def to_json(self) -> JsonObject:
        """As written to the JSON file."""
        return {
            "about": self.about,
            "tried": self.tried,
            "found": self.found,
            "crashes": self.crashes,
            "timeLimits": self.time_limits,
            "share": round(self.share, 4),
            "lowerBound95": round(self.bound, 4),
        }


@dataclass(frozen=True, slots=True)
class Cluster:
    """Survivors of one function."""

    room: str
    file: str
    function: str
    rows: tuple[Row, ...]


@dataclass(slots=True, kw_only=True)
class Sample:
    """What was drawn, in the order in which it was drawn, and under which conditions."""

    rows: list[Row]
    conditions: Mapping[str, Json]
    """How it was drawn and what was run, for the JSON document and the last lines."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Case to the reason why it can show nothing."""
    interrupted: bool = False
    seconds: float = 0.0

    def of(self, *outcomes: Outcome) -> list[Row]:
        """The mutants that have one of these outcomes."""
        return [
            row
            for row in self.rows
            if row.measured is not None and row.measured.outcome in outcomes
        ]

    @property
    def survivors(self) -> list[Row]:
        """The mutants that no case showed."""
        return self.of(Outcome.SURVIVED)

    @property
    def whole(self) -> Tally:
        """The counts of all."""
        return Tally.of("all", self.rows)

    @property
    def rooms(self) -> list[Tally]:
        """By package, sorted."""
        return self._by({row.mutant.fingerprint: row.mutant.room for row in self.rows})

    @property
    def operators(self) -> list[Tally]:
        """By operator, sorted."""
        return self._by({row.mutant.fingerprint: row.mutant.operator.value for row in self.rows})

    @property
    def clusters(self) -> list[Cluster]:
        """Survivors by room and function; rooms with most of them come first."""
        places: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.survivors:
            key = row.mutant.room, row.mutant.place.file, row.mutant.place.qualname
            places.setdefault(key, []).append(row)
        counts: dict[str, int] = {}
        for (room, _, _), rows in places.items():
            counts[room] = counts.get(room, 0) + len(rows)
        ordered = sorted(places.items(), key=lambda each: (-counts[each[0][0]], each[0]))
        return [Cluster(*key, tuple(rows)) for key, rows in ordered]

    def to_json(self, sources: Mapping[str, Source]) -> JsonObject:
        """The whole document; `sources` are the modules by file."""
        return {
            "mutants": FORMAT,
            **self.conditions,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 1),
            "unreached": len(self.of(Outcome.UNREACHED)),
            "equivalent": len(self.of(Outcome.EQUIVALENT)),
            "all": self.whole.to_json(),
            "rooms": [each.to_json() for each in self.rooms],
            "operators": [each.to_json() for each in self.operators],
            "leftOut": dict(self.left_out),
            "sample": [_row(row, sources) for row in self.rows if row.measured is not None],
        }

    def _by(self, groups: Mapping[str, str]) -> list[Tally]:
        named = sorted(set(groups.values()))
        tallies = [
            Tally.of(name, [row for row in self.rows if groups[row.mutant.fingerprint] == name])
            for name in named
        ]
        return [tally for tally in tallies if tally.tried]


def draw(mutants: Iterable[Mutant], size: int, reach: Reach, equivalents: Equivalents) -> list[Row]:
    """Take mutants in their order until `size` of them are reached and not equivalent.

    The others are rows as well: their outcome is known at once.
    """
    rows: list[Row] = []
    counted = 0
    for mutant in mutants:
        if counted == size:
            break
        row = Row(mutant)
        runs = len(reach.runs(mutant)) + len(reach.checks_of(mutant))
        outcome = Outcome.UNREACHED if not runs else None
        if mutant.fingerprint in equivalents.records:
            outcome = Outcome.EQUIVALENT
        if outcome is None:
            counted += 1
        else:
            row.measured = Measured(fingerprint=mutant.fingerprint, outcome=outcome, reached=runs)
        rows.append(row)
    return rows


def waiting(rows: Sequence[Row]) -> list[Mutant]:
    """The mutants that are still to be run."""
    return [row.mutant for row in rows if row.measured is None]


def _row(row: Row, sources: Mapping[str, Source]) -> JsonObject:
    mutant, measured = row.mutant, row.measured
    assert measured is not None
    document: JsonObject = {
        **measured.to_json(),
        "operator": mutant.operator.value,
        "room": mutant.room,
        "file": mutant.place.file,
        "line": mutant.place.line,
        "function": mutant.place.qualname,
    }
    if measured.outcome is Outcome.SURVIVED:
        document["diff"] = mutant.diff(sources[mutant.place.file])
    return document
