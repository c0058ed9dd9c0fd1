"""Coverage of a phase: for each class, the behaviours that cases reached in each runtime.

A behaviour counts as reached in a runtime when a case that declares it showed its probes there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.coverage.behaviour import BehaviourClass
from harness.coverage.contract import Contract
from harness.coverage.declared import Judged, Undeclarable, Unshown, undeclarable, unshown

__all__ = ["ClassCoverage", "Coverage", "coverage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCoverage:
    """One class of one phase. Ids are in the contract's order."""

    behaviour_class: BehaviourClass
    behaviours: tuple[str, ...]
    """All ids of the class."""
    declaring: int
    """Number of cases that declare one of them."""
    control: tuple[str, ...]
    """Ids reached in the control."""
    candidate: tuple[str, ...]
    """Ids reached in the candidate."""

    @property
    def both(self) -> tuple[str, ...]:
        """Ids reached in both."""
        return tuple(each for each in self.control if each in self.candidate)

    @property
    def never(self) -> tuple[str, ...]:
        """Ids reached in neither."""
        return tuple(
            each for each in self.behaviours if each not in (*self.control, *self.candidate)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """All classes of a phase, in the contract's order."""

    classes: tuple[ClassCoverage, ...]
    unshown: tuple[Unshown, ...]
    """Behaviours of any phase that a case declares and a run of it did not show."""
    undeclarable: tuple[Undeclarable, ...]
    """Declared ids that the contract does not have."""


def coverage(results: Sequence[Judged], contract: Contract, phase: str) -> Coverage:
    """The behaviours of `phase` that `results` reached.

    Cases of other phases and divergent cases count too; undecided cases do not.
    """
    sides: tuple[set[str], set[str]] = (set(), set())
    decided = [result for result in results if not result.blockers]
    for result in decided:
        for side, reached in zip(sides, result.reached, strict=True):
            side.update({*contract.of_probes(reached)}.intersection(result.contract))
    return Coverage(
        classes=tuple(
            _of_class(contract, phase, each, results, sides) for each in contract.classes(phase)
        ),
        unshown=tuple(each for result in decided for each in unshown(result, contract)),
        undeclarable=tuple(each for result in results for each in undeclarable(result, contract)),
    )


def _of_class(
    contract: Contract,
    phase: str,
    kind: BehaviourClass,
    results: Iterable[Judged],
    sides: tuple[set[str], set[str]],
) -> ClassCoverage:
    ids = tuple(each.id for each in contract.of_phase(phase) if each.behaviour_class is kind)
    control, candidate = (tuple(each for each in ids if each in side) for side in sides)
    return ClassCoverage(
        behaviour_class=kind,
        behaviours=ids,
        declaring=sum(not set(ids).isdisjoint(result.contract) for result in results),
        control=control,
        candidate=candidate,
    )
