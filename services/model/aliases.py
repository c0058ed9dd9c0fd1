"""Aliases of models and overrides. Source: core `services/modelConfigService.ts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.wire import Json

__all__ = ["ModelAlias", "ModelOverride"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAlias:
    """A name for a model and a generation config.

    Attributes:
        extends: The parent alias.
        model: The model; None: the parent's.
        config: Generation config in the API's camelCase, merged over the parent's.
    """

    extends: str | None = None
    model: str | None = None
    config: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOverride:
    """A change to the resolved model and config where `match` holds.

    Attributes:
        match: Conditions by their names on the wire (`model`, `overrideScope`, `isRetry`,
            `isChatModel`); all must hold. An empty one never matches. `model` is an alias of the
            chain or the model itself.
        model: The model instead; None: no change.
        config: Generation config, merged over the resolved one.
    """

    match: Mapping[str, Json]
    model: str | None = None
    config: Mapping[str, Json] = field(default_factory=dict)
