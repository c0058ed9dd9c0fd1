"""What a cassette says it is about, held against what its runs were seen to reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from harness.coverage.contract import Contract

__all__ = ["Judged", "Undeclarable", "Unshown", "declared_remarks", "undeclarable", "unshown"]


class Judged(Protocol):
    """What is asked of a case's result here (`harness.parity.verdict.CaseResult`)."""

    @property
    def cassette(self) -> str:
        """Its name."""
        ...

    @property
    def blockers(self) -> tuple[str, ...]:
        """Why nothing can be decided of it, if so."""
        ...

    @property
    def contract(self) -> tuple[str, ...]:
        """The ids that it declares."""
        ...

    @property
    def reached(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The probes of control and candidate."""
        ...

    @property
    def runtimes(self) -> tuple[str, str]:
        """Their runtimes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshown:
    """A behaviour that a cassette declares and a run of it did not show."""

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
    """The behaviours that the case declares and did not show on both sides.

    A case of which nothing could be decided shows nothing, and is not asked.
    """
    if result.blockers:
        return ()
    return tuple(_unshown(result, contract))


def _unshown(result: Judged, contract: Contract) -> Iterator[Unshown]:
    for declared in result.contract:
        behaviour = contract.by_id(declared)
        if behaviour is None:
            continue
        sides = tuple(
            runtime
            for runtime, reached in zip(result.runtimes, result.reached, strict=True)
            if not behaviour.probes.holds(reached)
        )
        if sides:
            yield Unshown(cassette=result.cassette, behaviour=declared, sides=sides)


def undeclarable(result: Judged, contract: Contract) -> tuple[Undeclarable, ...]:
    """The ids that the case declares and nobody knows."""
    return tuple(
        Undeclarable(cassette=result.cassette, behaviour=each)
        for each in contract.unknown(result.contract)
    )


def declared_remarks(result: Judged, contract: Contract) -> tuple[str, ...]:
    """The same in words, for the case's remarks. Without a contract there is nothing to say."""
    if not contract.behaviours:
        return ()
    return (
        *map(str, undeclarable(result, contract)),
        *map(str, unshown(result, contract)),
    )
