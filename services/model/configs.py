"""`ModelConfigs`: from a model's name or alias to the model and the config to ask it with.

Aliases stack from root to leaf. Overrides are then applied from the broadest to the most specific:
by how deep in the stack the alias they name sits (the model itself: 0), by how many conditions
they have, by order. Source: core `services/modelConfigService.ts`.
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
    """Which config is wanted.

    Attributes:
        model: A model's name or an alias.
        is_chat_model: Asked for a conversation: a model without an alias gets the chat defaults.
        is_retry: Asked for another attempt at an answer.
        override_scope: On whose behalf, for overrides that are meant for somebody; None: the core.
    """

    model: str
    is_chat_model: bool = False
    is_retry: bool = False
    override_scope: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedModelConfig:
    """A model and its generation config. The config is the receiver's own to change."""

    model: str
    config: JsonObject


@dataclass(frozen=True, slots=True)
class _Chain:
    """Aliases root to leaf, and what they come to."""

    names: tuple[str, ...]
    model: str | None
    config: JsonObject


class ModelConfigs:
    """The aliases and overrides of a session, and what it may use.

    Later sources win: runtime aliases over custom ones over the built-in ones; of overrides that
    are otherwise equal, runtime ones come last.
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
        """What the session may use; `names.resolve_model` wants it."""
        self.resolutions = resolutions
        """The tables that say what names stand for; `None`: the rules of `names` do."""
        self._aliases = {**aliases, **(custom_aliases or {})}
        self._overrides = (*overrides, *custom_overrides)
        self._runtime_overrides: list[ModelOverride] = []
        self._cache: dict[ModelConfigKey, ResolvedModelConfig] = {}

    def concrete(self, requested: str, *, custom_tools: bool = True) -> str:
        """The concrete model that `requested`, an alias or a name, stands for.

        Args:
            requested: As settings, requests or policies have it.
            custom_tools: False leaves the variant for custom tools out, as routing and the chat
                layer do.
        """
        access = self.access if custom_tools else self.access.without_custom_tools()
        if self.resolutions is not None:
            return self.resolutions.concrete(requested, access)
        return resolve_model(requested, access)

    def for_tier(self, requested: str, tier: str) -> str:
        """The concrete model of `tier` (`pro`, `flash`) for a session set to `requested`."""
        if self.resolutions is not None:
            return self.resolutions.for_tier(requested, tier, self.access)
        return resolve_classifier_model(requested, tier, self.access)

    def is_auto(self, model: str) -> bool:
        """Whether `model` leaves the choice to the router."""
        if self.resolutions is not None:
            return self.resolutions.is_auto(model)
        return is_auto_model(model)

    def is_gemini3(self, model: str) -> bool:
        """Whether `model` stands for one of the Gemini 3 family."""
        if self.resolutions is not None:
            return self.resolutions.is_gemini3(model, self.access)
        return is_gemini3_model(model)

    def register_runtime_alias(self, name: str, alias: ModelAlias) -> None:
        """Define or redefine an alias while running."""
        self._aliases[name] = alias
        self._cache.clear()

    def register_runtime_override(self, override: ModelOverride) -> None:
        """Add an override while running, after all there are."""
        self._runtime_overrides.append(override)
        self._cache.clear()

    def resolve(self, key: ModelConfigKey) -> ResolvedModelConfig:
        """The model and the config for `key`; equal keys give equal, separate results.

        Raises:
            ModelConfigError: An alias extends one that does not exist, or itself, or too many; or
                nothing says which model.
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
    """How deep an override applies; None when it does not. Without a `model` it is broad: 0."""
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
    """Strict equality with what the key says; a flag that is off says nothing at all."""
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
