"""Coverage of a phase: of each class, which behaviours a run's cases reached in which runtime.

A behaviour counts as reached in a runtime when a case that declares it showed its probes there. The
declaration alone is a claim, and the probes alone can be met by the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.coverage.behaviour import BehaviourClass
from harness.coverage.contract import Contract
from harness.coverage.declared import Judged, Undeclarable, Unshown, undeclarable, unshown
from services.wire import JsonObject

__all__ = ["ClassCoverage", "Coverage", "coverage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCoverage:
    """One class of one phase. Ids are in the contract's order."""

    behaviour_class: BehaviourClass
    behaviours: tuple[str, ...]
    """All ids of the class."""
    declaring: int
    """Cases that declare one of them."""
    control: tuple[str, ...]
    """Ids reached in the control."""
    candidate: tuple[str, ...]
    """Ids reached in the candidate."""
    by_the_way: tuple[str, ...]
    """Ids whose probes were met on both sides, in cases that declare others or none."""

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

    @property
    def reached(self) -> bool:
        """Whether the class was reached at all, in both runtimes."""
        return bool(self.both)

    def to_json(self) -> JsonObject:
        """As written to reports and records."""
        return {
            "class": self.behaviour_class.value,
            "behaviours": len(self.behaviours),
            "declaring": self.declaring,
            "control": list(self.control),
            "candidate": list(self.candidate),
            "both": list(self.both),
            "never": list(self.never),
            "byTheWay": list(self.by_the_way),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """All classes of a phase, in the contract's order."""

    phase: str
    contract: str
    """Digest of the contract; empty where there was none."""
    classes: tuple[ClassCoverage, ...]
    unshown: tuple[Unshown, ...] = ()
    """Behaviours of whatever phase that a case declares and a run of it did not show."""
    undeclarable: tuple[Undeclarable, ...] = ()
    """Declared ids that the contract does not have."""

    @property
    def unreached(self) -> tuple[BehaviourClass, ...]:
        """The classes of which nothing was reached in both runtimes."""
        return tuple(each.behaviour_class for each in self.classes if not each.reached)

    def of(self, behaviour_class: BehaviourClass) -> ClassCoverage | None:
        """One class, if the phase has it."""
        found = (each for each in self.classes if each.behaviour_class is behaviour_class)
        return next(found, None)

    def to_json(self) -> JsonObject:
        """As written to reports and records."""
        return {
            "phase": self.phase,
            "contract": self.contract,
            "classes": [each.to_json() for each in self.classes],
            "unshown": [
                {"cassette": each.cassette, "id": each.behaviour, "sides": list(each.sides)}
                for each in self.unshown
            ],
            "unknown": [
                {"cassette": each.cassette, "id": each.behaviour} for each in self.undeclarable
            ],
        }


def coverage(results: Sequence[Judged], contract: Contract, phase: str) -> Coverage:
    """What `results` reached of the behaviours that are due in `phase`.

    Cases of other phases count as well: what they declare of this one, they exercise. Divergent
    cases count, as the behaviour was reached; cases of which nothing could be decided do not.
    """
    sides: tuple[set[str], set[str]] = (set(), set())
    met: set[str] = set()
    decided = [result for result in results if not result.blockers]
    for result in decided:
        shown = [set(contract.of_probes(reached)) for reached in result.reached]
        met |= shown[0] & shown[1]
        for reached, ids in zip(sides, shown, strict=True):
            reached.update(ids.intersection(result.contract))
    return Coverage(
        phase=phase,
        contract=contract.digest,
        classes=tuple(
            _of_class(contract, phase, each, results, sides, met)
            for each in contract.classes(phase)
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
    met: set[str],
) -> ClassCoverage:
    ids = tuple(each.id for each in contract.of_phase(phase) if each.behaviour_class is kind)
    control, candidate = (tuple(each for each in ids if each in side) for side in sides)
    return ClassCoverage(
        behaviour_class=kind,
        behaviours=ids,
        declaring=sum(not set(ids).isdisjoint(result.contract) for result in results),
        control=control,
        candidate=candidate,
        by_the_way=tuple(
            each for each in ids if each in met and each not in (*control, *candidate)
        ),
    )
