"""`Facts`: what a measurement says of itself, so that it can be held to what is here now.

Written into kill matrices and summaries of generated runs under `measured`; journals have the same
in their header.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from harness.codec import Coded
from services.wire import JsonObject

__all__ = ["Facts", "evidence_facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts(Coded):
    """What was measured, with what, and when."""

    as_of: date
    """The day on which it was measured, or by which waivers were judged."""
    components: Mapping[str, str] = field(default_factory=dict)
    """Component of the inventory to digest; empty where there was nothing."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The machine, in words."""


def evidence_facts(
    cassettes: Iterable[tuple[str, Path]],
    waivers: Path | None,
    day: date,
    sides: Iterable[str] = (),
) -> JsonObject:
    """What a measurement made now over `cassettes`, as (name, file), says of itself.

    `sides` are those that it compares, as the command line names them.

    Reads all that it names, which takes a tenth of a second or two: once per measurement.
    """
    from harness.config import current_inventory
    from harness.inventory import environment

    inventory = current_inventory(cassettes, waivers, sides)
    facts = Facts(as_of=day, components=inventory.digests, environment=environment())
    measured: JsonObject = facts.to_json()
    return measured
