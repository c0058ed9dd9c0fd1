"""The behaviours that two runtimes must share, numbered: `parity_tests/contract.md` as values.

A behaviour says in one sentence what holds, which probes show that a run reached it, and where the
rule comes from. Whether a behaviour *holds* is what cassettes decide; the contract says only what
there is to be decided, so that a class that no run ever reached is not taken for a green one.
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
        """The behaviour of that number, if there is one."""
        return self._by_id.get(id)

    def classes(self, phase: str | None = None) -> tuple[BehaviourClass, ...]:
        """The classes that have behaviours in `phase` (in any, if none is named), as first seen."""
        found = (each.behaviour_class for each in self.behaviours if phase in (None, each.phase))
        return tuple(dict.fromkeys(found))

    def of_phase(self, phase: str) -> tuple[Behaviour, ...]:
        """The behaviours that are due in a phase."""
        return tuple(each for each in self.behaviours if each.phase == phase)

    def of_probes(self, reached: Collection[str]) -> tuple[str, ...]:
        """Ids of the behaviours that a run with these probes has reached, in the file's order."""
        probes = frozenset(reached)
        if probes not in self._reached:
            self._reached[probes] = tuple(
                each.id for each in self.behaviours if each.probes.holds(probes)
            )
        return self._reached[probes]

    def unknown(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Those of `ids` that are no behaviour's."""
        return tuple(each for each in ids if each not in self._by_id)

    @cached_property
    def _by_id(self) -> Mapping[str, Behaviour]:
        return {each.id: each for each in self.behaviours}


def load_contract(file: Path | None) -> Contract:
    """Read a contract; `None` is one without behaviours.

    Raises:
        ContractFileError: it cannot be read, or a row of it does not say what it should.
    """
    if file is None:
        return Contract()
    text, behaviours = read_behaviours(file)
    return Contract(behaviours=behaviours, digest=sha256_hex(text))
