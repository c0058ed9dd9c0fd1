"""How a group of settings is declared, and how values are read into it.

A setting is a dataclass field with a `Named` annotation. Its type decides which values it takes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

__all__ = [
    "READERS",
    "Named",
    "Parameter",
    "PlacedProblem",
    "Read",
    "Refused",
    "SettingError",
    "at_most",
    "look_up",
    "one_of",
    "parameters_of",
    "read_mapping",
    "read_number",
    "settings_from",
]

Read = Callable[[Any], Any]


class SettingError(ValueError):
    """A setting whose value has no meaning. `key` is the name that its author used."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


class PlacedProblem(ValueError):
    """A problem inside a setting's value. `place` leads from the setting to it: `[0].command`."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}" if place else problem)
        self.place = place
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Named:
    """The names of a setting."""

    name: str
    """The core's configuration parameter, as cassettes give it; dots lead into mappings."""
    key: str | None = None
    """The key in the user's settings file; `None` for what only programs set."""
    read: Read | None = None
    """Returns the field's value, or raises `ValueError` with what it expected; `None`: the
    field's type decides."""
    gap: str | None = None
    """The part of the setting without effect in this build, for the documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One setting: its names, its field and its default."""

    name: str
    key: str | None
    field: str
    """The field of `Settings`; `adk.` and `telemetry.` lead into the values of these names."""
    type: Any
    default: Any
    read: Read
    gap: str | None


def _expecting(expected: str, test: Callable[[Any], bool], convert: Read) -> Read:
    def read(value: Any) -> Any:
        if not test(value):
            raise ValueError(f"{expected} expected")
        return convert(value)

    return read


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _list_of(type_: type) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, (list, tuple)) and all(isinstance(item, type_) for item in value)
    )


def _unchanged(value: Any) -> Any:
    return value


read_number: Final = _expecting("a number", _is_number, _unchanged)
read_mapping: Final = _expecting("a mapping", lambda value: isinstance(value, Mapping), _unchanged)
READERS: Final[Mapping[Any, Read]] = {
    bool: _expecting("true or false", lambda value: isinstance(value, bool), _unchanged),
    int: _expecting(
        "a whole number", lambda value: _is_number(value) and isinstance(value, int), _unchanged
    ),
    float: _expecting("a number", _is_number, float),
    str: _expecting("a text", lambda value: isinstance(value, str), _unchanged),
    Mapping: read_mapping,
    tuple[str, ...]: _expecting("a list of texts", _list_of(str), tuple),
    tuple[Mapping[str, Any], ...]: _expecting("a list of mappings", _list_of(Mapping), tuple),
}


@dataclass(frozen=True, slots=True)
class Refused:
    """Reads a setting that cannot be switched on."""

    problem: str
    """Why not, and what to write instead."""
    taking: Read = READERS[bool]
    """Reads a value; a true one would switch the setting on."""

    def __call__(self, value: Any) -> bool:
        """Return `False`.

        Raises:
            PlacedProblem: the value would switch the setting on.
        """
        if self.taking(value):
            raise PlacedProblem("", self.problem)
        return False


def at_most(most: int) -> Read:
    """Take a whole number, and return `most` for a larger one."""
    return lambda value: min(READERS[int](value), most)


def one_of(*known: str) -> Read:
    """Take one of `known`."""
    return _expecting(f"one of {', '.join(known)}", lambda value: value in known, str)


def parameters_of(group: type, prefix: str = "") -> Iterator[Parameter]:
    """The settings that a dataclass declares, and those of the dataclasses among its fields."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            yield from parameters_of(hint, f"{field.name}.")
        if get_origin(hint) is not Annotated:
            continue
        type_, named = get_args(hint)
        made = field.default_factory
        yield Parameter(
            name=named.name,
            key=named.key,
            field=f"{prefix}{field.name}",
            type=type_,
            default=field.default if made is dataclasses.MISSING else made(),
            read=named.read or READERS[_plain(type_)],
            gap=named.gap,
        )


def _plain(type_: Any) -> Any:
    """`type_` without `None`; a mapping's type without that of its keys and values."""
    if get_origin(type_) in (Union, UnionType):
        (type_,) = (each for each in get_args(type_) if each is not type(None))
    return Mapping if get_origin(type_) is Mapping else type_


def settings_from(
    parameters: tuple[Parameter, ...],
    values: Mapping[str, Any],
    path_of: Callable[[Parameter], str | None],
) -> dict[str, Any]:
    """The values of the fields that `values` give, by the fields' names.

    Raises:
        SettingError: a value has the wrong type, or no meaning.
    """
    fields: dict[str, Any] = {}
    for parameter in parameters:
        path = path_of(parameter)
        found, value = look_up(values, path) if path is not None else (False, None)
        if not found or path is None:
            continue
        try:
            fields[parameter.field] = parameter.read(value)
        except PlacedProblem as problem:
            raise SettingError(f"{path}{problem.place}", problem.problem) from None
        except ValueError as problem:
            raise SettingError(path, f"{problem}, not {value!r}") from None
    return fields


def look_up(values: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    """Whether `values` has something at `path`, whose dots lead into mappings, and what."""
    value: Any = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return False, None
        value = value[key]
    return True, value
