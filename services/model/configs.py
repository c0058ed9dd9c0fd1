"""`ModelConfigs`: resolves a model's name or alias to a model and its generation config.

Aliases merge from root to leaf. Overrides are then applied from the broadest to the most specific:
by the depth of the alias that they name (the model itself: 0), by their number of conditions, by
order. Source: core `services/modelConfigService.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from services.model.aliases import ModelAlias, ModelOverride
from services.model.default_configs import DEFAULT_ALIASES, DEFAULT_OVERRIDES
from services.model.errors import ModelConfigError
from services.model.names import (
    AccessFlags,
    is_auto_model,
    is_gemini3_model,
    resolve_classifier_model,
    resolve_model,
)
from services.model.resolutions import ModelResolutions
from services.wire import Json, JsonObject

__all__ = ["ModelConfigKey", "ModelConfigs", "ResolvedModelConfig", "merged"]

_CHAT_BASE: Final = "chat-base"
_MAX_DEPTH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfigKey:
    """The request for a config.

    Attributes:
        model: A model's name or an alias.
        is_chat_model: For a conversation: a model without an alias gets the chat defaults.
        is_retry: For another attempt at an answer.
        override_scope: The agent that asks, for overrides with a scope; None: the core.
    """

    model: str
    is_chat_model: bool = False
    is_retry: bool = False
    override_scope: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedModelConfig:
    """A model and its generation config, which the receiver may change."""

    model: str
    config: JsonObject


@dataclass(frozen=True, slots=True)
class _Chain:
    """Aliases from root to leaf, and the result of merging them."""

    names: tuple[str, ...]
    model: str | None
    config: JsonObject


class ModelConfigs:
    """The aliases and overrides of a session.

    Runtime aliases replace custom ones, and these the built-in ones; among equal overrides, runtime
    ones are applied last.
    """

    def __init__(
        self,
        access: AccessFlags,
        *,
        custom_aliases: Mapping[str, ModelAlias] | None = None,
        custom_overrides: Sequence[ModelOverride] = (),
        aliases: Mapping[str, ModelAlias] = DEFAULT_ALIASES,
        overrides: Sequence[ModelOverride] = DEFAULT_OVERRIDES,
        resolutions: ModelResolutions | None = None,
    ) -> None:
        self.access = access
        """The models that the session may use."""
        self.resolutions = resolutions
        """The tables that resolve names; `None`: the rules of `names` do."""
        self._aliases = {**aliases, **(custom_aliases or {})}
        self._overrides = (*overrides, *custom_overrides)
        self._runtime_overrides: list[ModelOverride] = []
        self._cache: dict[ModelConfigKey, ResolvedModelConfig] = {}

    def concrete(self, requested: str, *, custom_tools: bool = True) -> str:
        """Return the concrete model for an alias or a name.

        With `custom_tools` false, never the variant for custom tools, as routing and chats do.
        """
        access = self.access if custom_tools else self.access.without_custom_tools()
        if self.resolutions is not None:
            return self.resolutions.concrete(requested, access)
        return resolve_model(requested, access)

    def for_tier(self, requested: str, tier: str) -> str:
        """Return the model of `tier` (`pro`, `flash`) for a session set to `requested`."""
        if self.resolutions is not None:
            return self.resolutions.for_tier(requested, tier, self.access)
        return resolve_classifier_model(requested, tier, self.access)

    def is_auto(self, model: str) -> bool:
        """Whether `model` leaves the choice to the router."""
        if self.resolutions is not None:
            return self.resolutions.is_auto(model)
        return is_auto_model(model)

    def is_gemini3(self, model: str) -> bool:
        """Whether `model` resolves to the Gemini 3 family."""
        if self.resolutions is not None:
            return self.resolutions.is_gemini3(model, self.access)
        return is_gemini3_model(model)

    def register_runtime_alias(self, name: str, alias: ModelAlias) -> None:
        """Define or redefine an alias."""
        self._aliases[name] = alias
        self._cache.clear()

    def register_runtime_override(self, override: ModelOverride) -> None:
        """Add an override after all others."""
        self._runtime_overrides.append(override)
        self._cache.clear()

    def resolve(self, key: ModelConfigKey) -> ResolvedModelConfig:
        """Return a new model and config for `key`.

        Raises:
            ModelConfigError: An alias extends a missing one, itself, or too many; or no model is
                named.
        """
        known = self._cache.get(key)
        if known is None:
            known = self._cache[key] = self._resolve(key)
        return ResolvedModelConfig(known.model, deepcopy(known.config))

    def _resolve(self, key: ModelConfigKey) -> ResolvedModelConfig:
        chain = self._chain(key)
        model, config = chain.model, chain.config
        for override in self._matching(key, chain):
            model = model if override.model is None else override.model
            config = merged(config, override.config)
        if not model:
            raise ModelConfigError(
                f'Could not resolve a model name for alias "{key.model}". Please ensure the alias '
                "chain or a matching override specifies a model."
            )
        return ResolvedModelConfig(model, config)

    def _chain(self, key: ModelConfigKey) -> _Chain:
        if key.model in self._aliases:
            return self._stack(key.model)
        if key.is_chat_model and _CHAT_BASE in self._aliases:
            base = self._stack(_CHAT_BASE)
            return _Chain((*base.names, key.model), key.model, base.config)
        return _Chain((key.model,), key.model, {})

    def _stack(self, leaf: str) -> _Chain:
        names: list[str] = []
        current: str | None = leaf
        while current:
            if current not in self._aliases:
                raise ModelConfigError(f'Alias "{current}" not found.')
            if len(names) >= _MAX_DEPTH:
                raise ModelConfigError(
                    f"Alias inheritance chain exceeded maximum depth of {_MAX_DEPTH}."
                )
            if current in names:
                path = " -> ".join([*names, current])
                raise ModelConfigError(f"Circular alias dependency: {path}")
            names.append(current)
            current = self._aliases[current].extends
        names.reverse()
        model: str | None = None
        config: JsonObject = {}
        for name in names:
            alias = self._aliases[name]
            model = model if alias.model is None else alias.model
            config = merged(config, alias.config)
        return _Chain(tuple(names), model, config)

    def _matching(self, key: ModelConfigKey, chain: _Chain) -> Iterable[ModelOverride]:
        levels: dict[str, int] = {chain.model: 0} if chain.model else {}
        levels.update((name, level) for level, name in enumerate(chain.names, start=1))
        ranked = [
            (level, len(override.match), order, override)
            for order, override in enumerate((*self._overrides, *self._runtime_overrides))
            if (level := _level(override.match, key, levels)) is not None
        ]
        ranked.sort(key=lambda entry: entry[:3])
        return [override for *_, override in ranked]


def _level(match: Mapping[str, Json], key: ModelConfigKey, levels: Mapping[str, int]) -> int | None:
    """The depth at which an override applies, 0 without a `model`; None: it does not apply."""
    if not match:
        return None
    level = 0
    for condition, wanted in match.items():
        if condition == "model":
            if not isinstance(wanted, str) or wanted not in levels:
                return None
            level = levels[wanted]
        elif not _holds(condition, wanted, key):
            return None
    return level


def _holds(condition: str, wanted: Json, key: ModelConfigKey) -> bool:
    """Strict equality with the key; only flags that are on match."""
    if condition == "overrideScope":
        scope = key.override_scope
        return isinstance(wanted, str) and wanted == (scope or "core")
    flags = {"isRetry": key.is_retry, "isChatModel": key.is_chat_model}
    return wanted is True and flags.get(condition, False)


def merged(base: Mapping[str, Json], over: Mapping[str, Json]) -> JsonObject:
    """Merge `over` into a copy of `base`: mappings merge, other values are replaced."""
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[name] = merged(below or {}, value) if both else value
    return result
