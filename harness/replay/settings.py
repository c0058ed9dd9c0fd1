"""What a cassette's session means for the product: its settings, and whether this build has it."""

from __future__ import annotations

from typing import Final

from harness.cassette.format import Cassette, SessionSetup
from services.settings import Settings, settings_from_parameters

__all__ = ["missing_features", "settings_of"]

INFERRED_FEATURES: Final = frozenset({"compression", "plan_mode", "subagents"})
"""What is read from a model's answers alone. Imported answers were given to somebody else: that
they call a tool which this build lacks is no reason not to replay them."""


def missing_features(cassette: Cassette, supported: frozenset[str] | None) -> list[str]:
    """What the cassette needs beyond `supported`, sorted; names of `cassette.needs.FEATURES`.

    `None` supports everything.
    """
    if supported is None:
        return []
    missing = cassette.features - supported
    if cassette.provenance.kind == "imported":
        missing -= INFERRED_FEATURES
    return sorted(missing)


def settings_of(session: SessionSetup) -> Settings:
    """The settings of a cassette's session; parameters of services not built yet play no part."""
    return settings_from_parameters(session.settings, interactive=session.interactive)
