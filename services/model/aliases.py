"""What a model alias and an override are. Source: core `services/modelConfigService.ts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.wire import Json

__all__ = ["ModelAlias", "ModelOverride"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAlias:
    """A name for a model and a generation config, on top of those of another alias.

    Attributes:
        extends: The alias underneath.
        model: The model; None leaves it to the alias underneath.
        config: Generation config in the API's camelCase; objects merge, everything else replaces.
    """

    extends: str | None = None
    model: str | None = None
    config: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOverride:
    """A change to what aliases say, wherever `match` holds.

    Attributes:
        match: Conditions by the key's names on the wire (`model`, `overrideScope`, `isRetry`,
            `isChatModel`); all must hold, and none at all never matches. `model` is an alias of
            the chain or the model itself.
        model: The model instead; None leaves it.
        config: Generation config, merged over.
    """

    match: Mapping[str, Json]
    model: str | None = None
    config: Mapping[str, Json] = field(default_factory=dict)
