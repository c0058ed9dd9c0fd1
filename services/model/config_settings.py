"""Reads the setting `modelConfigs` into `ModelConfigs`.

`aliases` and `overrides` replace the product's own; the `custom…` ones and all tables are added to
them by name.

Source: core `config/config.ts`, the constructor's merging of `modelConfigServiceConfig`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from services.model.aliases import ModelAlias, ModelOverride
from services.model.configs import ModelConfigs
from services.model.default_configs import DEFAULT_ALIASES, DEFAULT_OVERRIDES
from services.model.names import AccessFlags
from services.model.resolutions import ModelResolutions
from services.wire import Json

__all__ = ["model_configs_from_settings"]

T = TypeVar("T")

_NAME: Final = "modelConfigs"
_KINDS: Final = ("terminal", "transient", "not_found", "unknown")


def model_configs_from_settings(
    value: Mapping[str, Json] | None, access: AccessFlags, *, dynamic: bool = False
) -> ModelConfigs:
    """Return the aliases, overrides and tables of a session.

    Args:
        value: The setting, if any.
        access: The models that the session may use.
        dynamic: Whether tables instead of the rules of `names` resolve names.

    Raises:
        ValueError: a value has the wrong shape; the message names it and its place.
    """
    given = _mapping(value or {}, _NAME)
    aliases = _named(given, "aliases", _alias)
    overrides = _listed(given, "overrides", _override)
    tables = ModelResolutions(
        definitions=_named(given, "modelDefinitions", _mapping),
        ids=_named(given, "modelIdResolutions", _resolution),
        classifier_ids=_named(given, "classifierIdResolutions", _resolution),
        chains=_named(given, "modelChains", _chain),
    )
    return ModelConfigs(
        access,
        aliases=DEFAULT_ALIASES if aliases is None else aliases,
        custom_aliases=_named(given, "customAliases", _alias),
        overrides=DEFAULT_OVERRIDES if overrides is None else overrides,
        custom_overrides=_listed(given, "customOverrides", _override) or (),
        resolutions=tables if dynamic else None,
    )


def _alias(value: Json, where: str) -> ModelAlias:
    alias = _mapping(value, where)
    model, config = _model_config(alias, where)
    return ModelAlias(
        extends=_text_or_none(alias.get("extends"), f"{where}.extends"), model=model, config=config
    )


def _override(value: Json, where: str) -> ModelOverride:
    override = _mapping(value, where)
    model, config = _model_config(override, where)
    return ModelOverride(
        match=_mapping(override.get("match", {}), f"{where}.match"), model=model, config=config
    )


def _model_config(value: Mapping[str, Json], where: str) -> tuple[str | None, Mapping[str, Json]]:
    where = f"{where}.modelConfig"
    given = value.get("modelConfig")
    given = _mapping({} if given is None else given, where)
    config = given.get("generateContentConfig")
    config = _mapping({} if config is None else config, f"{where}.generateContentConfig")
    return _text_or_none(given.get("model"), f"{where}.model"), config


def _resolution(value: Json, where: str) -> Mapping[str, Json]:
    resolution = _mapping(value, where)
    _text(resolution.get("default"), f"{where}.default")
    cases = _sequence(resolution.get("contexts") or [], f"{where}.contexts")
    for index, item in enumerate(cases):
        at = f"{where}.contexts[{index}]"
        case = _mapping(item, at)
        _mapping(case.get("condition"), f"{at}.condition")
        _text(case.get("target"), f"{at}.target")
    return resolution


def _chain(value: Json, where: str) -> list[Mapping[str, Json]]:
    policies = []
    for index, item in enumerate(_sequence(value, where)):
        at = f"{where}[{index}]"
        policy = _mapping(item, at)
        _text(policy.get("model"), f"{at}.model")
        attempts = policy.get("maxAttempts")
        if attempts is not None and (isinstance(attempts, bool) or not isinstance(attempts, int)):
            raise _wrong(f"{at}.maxAttempts", "a whole number", attempts)
        for name, words in (
            ("actions", ("silent", "prompt")),
            ("stateTransitions", ("terminal", "sticky_retry")),
        ):
            _check_words(policy.get(name), words, f"{at}.{name}")
        policies.append(policy)
    return policies


def _check_words(value: Json, words: tuple[str, ...], where: str) -> None:
    for kind, word in _mapping({} if value is None else value, where).items():
        if kind not in _KINDS:
            raise ValueError(f"{where}: {kind!r} is no kind of failure; {_either(_KINDS)} are")
        if word not in words:
            raise _wrong(f"{where}.{kind}", _either(words), word)


def _named(
    given: Mapping[str, Json], name: str, read: Callable[[Json, str], T]
) -> dict[str, T] | None:
    if given.get(name) is None:
        return None
    where = f"{_NAME}.{name}"
    return {key: read(item, f"{where}.{key}") for key, item in _mapping(given[name], where).items()}


def _listed(given: Mapping[str, Json], name: str, read: Callable[[Json, str], T]) -> list[T] | None:
    if given.get(name) is None:
        return None
    where = f"{_NAME}.{name}"
    return [
        read(item, f"{where}[{index}]") for index, item in enumerate(_sequence(given[name], where))
    ]


def _mapping(value: Json, where: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise _wrong(where, "a mapping", value)
    return value


def _sequence(value: Json, where: str) -> list[Json] | tuple[Json, ...]:
    if not isinstance(value, (list, tuple)):
        raise _wrong(where, "a list", value)
    return value


def _text(value: Json, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, "a text", value)
    return value


def _text_or_none(value: Json, where: str) -> str | None:
    return None if value is None else _text(value, where)


def _wrong(where: str, expected: str, value: Json) -> ValueError:
    return ValueError(f"{where}: {expected} expected, not {value!r}")


def _either(words: tuple[str, ...]) -> str:
    return " or ".join(words)
