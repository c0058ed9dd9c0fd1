"""Compare the behaviours that a cassette declares with those that its runs reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from harness.coverage.contract import Contract

__all__ = ["Judged", "Undeclarable", "Unshown", "declared_remarks", "undeclarable", "unshown"]


class Judged(Protocol):
    """The parts of a `harness.parity.verdict.CaseResult` that are used here."""

    @property
    def cassette(self) -> str:
        """Its name."""

    @property
    def blockers(self) -> tuple[str, ...]:
        """Why the case could not be decided; empty if it was."""

    @property
    def contract(self) -> tuple[str, ...]:
        """The ids that it declares."""

    @property
    def reached(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The probes of control and candidate."""

    @property
    def runtimes(self) -> tuple[str, str]:
        """The runtimes of control and candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshown:
    """A behaviour that a cassette declares, and that a run did not show."""

    cassette: str
    behaviour: str
    """The behaviour's id."""
    sides: tuple[str, ...]
    """The runtimes that did not show it."""

    def __str__(self) -> str:
        return f"{self.behaviour} is declared, but {' and '.join(self.sides)} did not reach it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undeclarable:
    """An id that a cassette declares and the contract does not have."""

    cassette: str
    behaviour: str

    def __str__(self) -> str:
        return f"{self.behaviour} is declared, but the contract has no such behaviour"


def unshown(result: Judged, contract: Contract) -> tuple[Unshown, ...]:
    """The behaviours that the case declares and did not show on both sides; none if undecided."""
    found = []
    for declared in () if result.blockers else result.contract:
        behaviour = contract.by_id(declared)
        if behaviour is None:
            continue
        sides = tuple(
            runtime
            for runtime, reached in zip(result.runtimes, result.reached, strict=True)
            if not behaviour.probes.holds(reached)
        )
        if sides:
            found.append(Unshown(cassette=result.cassette, behaviour=declared, sides=sides))
    return tuple(found)


def undeclarable(result: Judged, contract: Contract) -> tuple[Undeclarable, ...]:
    """The declared ids that the contract does not have."""
    return tuple(
        Undeclarable(cassette=result.cassette, behaviour=each)
        for each in contract.unknown(result.contract)
    )


def declared_remarks(result: Judged, contract: Contract) -> tuple[str, ...]:
    """Both in words, for the case's remarks; none without a contract."""
    if not contract.behaviours:
        return ()
    return tuple(map(str, (*undeclarable(result, contract), *unshown(result, contract))))
