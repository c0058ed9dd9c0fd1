"""Validators for JSON schemas from servers and files.

The package `jsonschema` fetches the target of a foreign `$ref` over the network or from a file,
searches with Python's regular expressions, and can take exponential time for the references of a
small schema. These validators fetch nothing and limit the work of one check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Final

import attrs
from jsonschema import Draft7Validator, Draft202012Validator, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry

from services.exhaustion import limited
from services.outside_patterns import PatternBudget
from services.tools.js_regex import compile_js
from services.wire import Json, JsonObject

__all__ = [
    "FALSE_SCHEMA",
    "MOST_STEPS",
    "SchemaLimit",
    "bounded_validator",
    "bounded_work",
    "schema_step",
]

FALSE_SCHEMA: Final = "boolean false"
"""A keyword that nothing satisfies, in place of a schema `false`."""
MOST_STEPS: Final = 100_000
"""The most keywords that one check applies. Every 1000 characters of a text count as one more, and
so do every 100 choices of a keyword such as `enum`."""
_TEXT_PER_STEP: Final = 1000
_CHOICES_PER_STEP: Final = 100
_DIALECTS: Final[dict[Json, type[Validator]]] = {
    None: Draft7Validator,
    "http://json-schema.org/draft-07/schema": Draft7Validator,
    "http://json-schema.org/draft-07/schema#": Draft7Validator,
    "https://json-schema.org/draft/2020-12/schema": Draft202012Validator,
}
"""What upstream's validator can check against, by `$schema`."""

_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class SchemaLimit(Exception):
    """A check needs more than `MOST_STEPS` steps."""

    def __init__(self) -> None:
        super().__init__(f"Checking against the schema takes more than {MOST_STEPS} steps.")


@dataclass(slots=True)
class _Work:
    """The remaining work of one check."""

    steps: int = MOST_STEPS
    patterns: PatternBudget = field(default_factory=PatternBudget)


_work: ContextVar[_Work] = ContextVar("schema work")


@contextmanager
def bounded_work() -> Iterator[PatternBudget]:
    """One check: counts the work of validators and `schema_step` inside together.

    Yields:
        The time that remains for patterns.
    """
    work = _Work()
    token = _work.set(work)
    try:
        yield work.patterns
    finally:
        _work.reset(token)


def schema_step(value: Json, more: int = 0) -> None:
    """Count one step, and `more`, of the check on `value`.

    Raises:
        SchemaLimit: it is one too many.
    """
    work = _work.get()
    work.steps -= 1 + more + (len(value) // _TEXT_PER_STEP if isinstance(value, str) else 0)
    if work.steps < 0:
        raise limited(SchemaLimit())


def bounded_validator(schema: JsonObject) -> Validator:
    """A validator of the draft that `schema` names, by default draft 7; use it in `bounded_work`.

    Raises:
        ValueError: the schema names another draft, or combines keywords whose work cannot be
            counted.
    """
    dialect = schema.get("$schema")
    if dialect not in _DIALECTS:
        raise ValueError(f"no validator for the draft {dialect}")
    if _has(schema, "unevaluatedProperties", "unevaluatedItems") and _has(
        schema, "$ref", "$dynamicRef", "$recursiveRef", "patternProperties"
    ):
        raise ValueError("unevaluated members beside references or patterns are not supported")
    return _bounded(_DIALECTS[dialect])(schema, registry=Registry())


def _has(schema: Json, *keywords: str) -> bool:
    if isinstance(schema, list):
        return any(_has(item, *keywords) for item in schema)
    if not isinstance(schema, dict):
        return False
    return any(keyword in schema for keyword in keywords) or any(
        _has(value, *keywords) for value in schema.values()
    )


@cache
def _bounded(kind: type[Validator]) -> type[Validator]:
    keywords: dict[str, _Keyword] = {**dict(kind.VALIDATORS), **_OURS}
    counted = {name: _counted(keyword) for name, keyword in keywords.items()}
    # `extend` has no annotations.
    bounded: Any = extend(kind, counted)  # type: ignore[no-untyped-call]
    bounded.evolve = _evolved
    kept: type[Validator] = bounded
    return kept


def _evolved(validator: Any, **changes: Any) -> Any:
    """A replacement of `Validator.evolve` that keeps the class of the validator.

    The original takes the class that an inner `$schema` names, which has no limits.
    """
    for each in attrs.fields(type(validator)):
        if each.init:
            changes.setdefault(each.alias or each.name, getattr(validator, each.name))
    return type(validator)(**changes)


def _counted(keyword: _Keyword) -> _Keyword:
    def count(
        validator: Any, value: Any, instance: Any, schema: Any
    ) -> Iterator[ValidationError] | None:
        schema_step(instance, len(value) // _CHOICES_PER_STEP if isinstance(value, list) else 0)
        return keyword(validator, value, instance, schema)

    return count


def _found(pattern: str, text: str) -> bool:
    return compile_js(pattern).search(text, _work.get().patterns) is not None


def _pattern(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _found(value, instance):
        yield ValidationError(f"a text does not match {value!r}")


def _pattern_properties(
    validator: Any, value: Any, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in value.items():
        for name, member in instance.items():
            schema_step(name)
            if _found(pattern, name):
                yield from validator.descend(member, inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known, patterns = schema.get("properties", {}), list(schema.get("patternProperties", {}))
    extra = (
        name
        for name in instance
        if name not in known and not any(_found(pattern, name) for pattern in patterns)
    )
    if isinstance(value, dict):
        for name in extra:
            yield from validator.descend(instance[name], value, path=name)
    elif not value:
        for name in islice(extra, 1):
            yield ValidationError(f"{name!r} is not expected")


def _false_schema(
    _validator: Any, _value: Any, _instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    yield ValidationError("nothing is allowed")


def _property_names(
    validator: Any, value: Any, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    """An error for each name that fails, with its own errors as context."""
    for name in instance if isinstance(instance, dict) else ():
        if faults := list(validator.descend(name, value, schema_path=0)):
            yield ValidationError(f"{name!r} is no valid name", context=faults)


def _unique_items(
    _validator: Any, value: Any, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if value and isinstance(instance, list):
        keys = [_key(item) for item in instance]
        if len(set(keys)) < len(keys):
            yield ValidationError("an item is there twice")


def _key(value: Json) -> tuple[Any, ...]:
    """A key that is equal for two values exactly if they are equal in JSON Schema."""
    match value:
        case bool() | None:
            return ("word", value)
        case list():
            return ("list", *map(_key, value))
        case dict():
            members = ((name, _key(member)) for name, member in value.items())
            return ("object", frozenset(members))
        case _:
            return ("value", value)


_OURS: Final[dict[str, _Keyword]] = {
    FALSE_SCHEMA: _false_schema,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "uniqueItems": _unique_items,
}
