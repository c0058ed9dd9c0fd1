"""The behaviours that two runtimes must share, numbered: `parity_tests/contract.md` as values.

A behaviour says in one sentence what holds, which probes show that a run reached it, and where the
rule comes from. Whether a behaviour *holds* is what cassettes decide; the contract says only what
there is to be decided, so that a class that no run ever reached is not taken for a green one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Final

from harness.coverage.expression import ProbeExpression

__all__ = ["PHASES", "Behaviour", "BehaviourClass", "Contract"]

PHASES: Final[Mapping[str, str]] = MappingProxyType(
    {"A": "non-interactive", "B": "local subagents", "C": "interactive"}
)
"""The rollout phases, and what each moves to the other runtime."""


class BehaviourClass(StrEnum):
    """What a behaviour is about. The gate asks of each class whether it was reached."""

    STREAMING = "streaming"
    TOOLS = "tools"
    ERRORS = "errors"
    FALLBACK = "fallback"
    ROUTING = "routing"
    MASKING = "masking"
    TRUNCATION = "truncation"
    COMPRESSION = "compression"
    LOOPS = "loops"
    NEXT_SPEAKER = "next_speaker"
    LIMITS = "limits"
    HOOKS = "hooks"
    POLICY = "policy"
    MCP = "mcp"
    SKILLS = "skills"
    RECORDING = "recording"
    ABORT = "abort"
    LIFECYCLE = "lifecycle"
    SUBAGENTS = "subagents"
    CONFIRMATION = "confirmation"
    STEERING = "steering"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One numbered behaviour."""

    id: str
    """`P-014`: unique, and never given to another behaviour."""
    phase: str
    """The rollout phase in which it is due: a key of `PHASES`."""
    behaviour_class: BehaviourClass
    title: str
    """What holds, in one sentence."""
    probes: ProbeExpression
    """What a run must have shown for it to have been reached."""
    source: str
    """Where the rule comes from: a file of the published core, a class of ADK, the design, the
    API's documentation."""


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
        return tuple(id for id in ids if id not in self._by_id)

    @cached_property
    def _by_id(self) -> Mapping[str, Behaviour]:
        return {each.id: each for each in self.behaviours}
