"""`Coded`: a dataclass as JSON, its fields in camelCase and in their order.

`to_json` walks over the fields. pydantic reads: it checks every type, and ignores unknown keys. A
class whose JSON has more than the fields overrides `to_json` and `fields_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Final, Self, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from harness.errors import first_problem
from services.wire import Json

__all__ = ["Coded", "Listed", "Unreadable", "read", "written"]

T = TypeVar("T")


class Unreadable(ValueError):
    """A value of the wrong shape: the place in it, and the problem."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place or 'the whole'}: {problem}")
        self.place = place
        self.problem = problem


class Coded:
    """Base of dataclasses that are written as JSON objects."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel)

    _read: ClassVar[Any]

    def to_json(self) -> Any:
        """Return the fields as JSON, in order."""
        assert is_dataclass(self)
        return {to_camel(each.name): written(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Return the inverse of `to_json`.

        Raises:
            Unreadable: a key is missing, or a value has another type.
        """
        return read(cls, value)

    @classmethod
    def fields_of(cls, value: Any) -> Any:
        """Return the JSON of the fields, by name in camelCase, from the result of `to_json`."""
        return value

    def __init_subclass__(cls) -> None:
        """Read through `fields_of`, here and wherever the class is a field's type."""
        super().__init_subclass__()
        # pydantic looks for validators in each class itself, and in bases that are its own.
        before: Any = model_validator(mode="before")
        cls._read = before(classmethod(_fields_of))


def _fields_of(cls: type[Coded], value: Any) -> Any:
    return value if isinstance(value, cls) else cls.fields_of(value)


class Listed(Coded):
    """Base of dataclasses that are written as JSON lists: the fields' values in their order."""

    __slots__ = ()

    def to_json(self) -> Any:
        """Return the values of the fields as JSON."""
        return [*super().to_json().values()]

    @classmethod
    def fields_of(cls, value: Any) -> Any:
        """Return the values by the names of the fields; the last ones may be omitted."""
        names = [to_camel(each.name) for each in fields(cls)]  # type: ignore[arg-type]
        if not isinstance(value, list) or len(value) > len(names):
            raise ValueError(f"not a list of at most {len(names)} values")
        return dict(zip(names, value, strict=False))


def written(value: Any) -> Json:
    """Return a field's value as JSON."""
    if isinstance(value, Coded):
        return value.to_json()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: written(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [written(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value


def read(kind: type[T], value: Any) -> T:
    """Convert `value`, parsed JSON, to an instance of `kind`.

    Raises:
        Unreadable: The value has another shape.
    """
    try:
        found: T = _ADAPTER(kind).validate_python(value)
        return found
    except ValidationError as error:
        raise Unreadable(*first_problem(error)) from error


_ADAPTER: Final[Callable[[Any], TypeAdapter[Any]]] = cache(TypeAdapter)
"""Built on first use, since that takes milliseconds."""
