"""`Facts` of a measurement, by which the gate decides whether it is up to date.

Kill matrices and summaries of generated runs have them under `measured`, journals in their header.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from harness.codec import Coded
from harness.config import current_inventory
from harness.inventory import environment
from services.wire import JsonObject

__all__ = ["Facts", "evidence_facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts(Coded):
    """The files, the machine and the day of a measurement."""

    as_of: date
    """The day of the measurement, or by which it judged waivers."""
    components: Mapping[str, str] = field(default_factory=dict)
    """Component of the inventory to digest; empty for a missing component."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Versions of system and packages."""


def evidence_facts(
    cassettes: Iterable[tuple[str, Path]],
    waivers: Path | None,
    day: date,
    sides: Iterable[str] = (),
) -> JsonObject:
    """The facts of a measurement over `cassettes`, as (name, file), and `sides`, as JSON.

    Reads all files, which takes a tenth of a second or two.
    """
    inventory = current_inventory(cassettes, waivers, sides)
    facts = Facts(as_of=day, components=inventory.digests, environment=environment())
    measured: JsonObject = facts.to_json()
    return measured
