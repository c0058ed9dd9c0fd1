"""`Contract`: the numbered behaviours of `parity_tests/contract.md`.

Cassettes decide whether a behaviour holds. The contract lists the behaviours, so that a class that
no run reached does not pass for a green one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from harness.canonical import sha256_hex
from harness.coverage.behaviour import PHASES, Behaviour, BehaviourClass
from harness.coverage.contract_file import ContractFileError, read_behaviours

__all__ = [
    "PHASES",
    "Behaviour",
    "BehaviourClass",
    "Contract",
    "ContractFileError",
    "load_contract",
]


@dataclass(frozen=True)
class Contract:
    """All behaviours, in the order of their file."""

    behaviours: Sequence[Behaviour] = ()
    digest: str = ""
    """SHA-256 of the file's text."""
    _reached: dict[frozenset[str], tuple[str, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def by_id(self, id: str) -> Behaviour | None:
        """The behaviour with that id, if there is one."""
        return self._by_id.get(id)

    def classes(self, phase: str | None = None) -> tuple[BehaviourClass, ...]:
        """The classes with behaviours in `phase`, or in any phase, in the file's order."""
        found = (each.behaviour_class for each in self.behaviours if phase in (None, each.phase))
        return tuple(dict.fromkeys(found))

    def of_phase(self, phase: str) -> tuple[Behaviour, ...]:
        """The behaviours that are due in a phase."""
        return tuple(each for each in self.behaviours if each.phase == phase)

    def of_probes(self, reached: Collection[str]) -> tuple[str, ...]:
        """Ids of the behaviours that a run with these probes reached, in the file's order."""
        probes = frozenset(reached)
        if probes not in self._reached:
            self._reached[probes] = tuple(
                each.id for each in self.behaviours if each.probes.holds(probes)
            )
        return self._reached[probes]

    def unknown(self, ids: Iterable[str]) -> tuple[str, ...]:
        """The ids that the contract does not have."""
        return tuple(each for each in ids if each not in self._by_id)

    @cached_property
    def _by_id(self) -> Mapping[str, Behaviour]:
        return {each.id: each for each in self.behaviours}


def load_contract(file: Path | None) -> Contract:
    """Read a contract; `None` is one without behaviours.

    Raises:
        ContractFileError: it cannot be read, or a row is wrong.
    """
    if file is None:
        return Contract()
    text, behaviours = read_behaviours(file)
    return Contract(behaviours=behaviours, digest=sha256_hex(text))
