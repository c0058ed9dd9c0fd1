"""Which features a cassette needs that a build lacks."""

from __future__ import annotations

from typing import Final

from harness.cassette.format import Cassette

__all__ = ["missing_features"]

INFERRED_FEATURES: Final = frozenset({"compression", "plan_mode", "subagents"})
"""Features that only a model's answers imply. Imported answers come from another product, so they
may call tools that this build lacks."""


def missing_features(cassette: Cassette, supported: frozenset[str] | None) -> list[str]:
    """Features (`cassette.needs.FEATURES`) that the cassette needs beyond `supported`, sorted.

    `None` supports everything.
    """
    if supported is None:
        return []
    missing = cassette.features - supported
    if cassette.provenance.kind == "imported":
        missing -= INFERRED_FEATURES
    return sorted(missing)
