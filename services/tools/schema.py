"""Checks arguments against a JSON schema, with the messages of upstream's validator.

The message is that of the first failing keyword in ajv's order: `type` and choices like `enum`
before limits, `required` before `additionalProperties` before `properties`.

Source: core `utils/schemaValidator.ts`; npm `ajv` 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby, islice
from typing import Any, Final

from jsonschema import ValidationError

from services.outside_patterns import PatternLimit
from services.tools.bounded_validators import (
    FALSE_SCHEMA,
    SchemaLimit,
    bounded_validator,
    bounded_work,
)
from services.wire import Json, JsonObject

__all__ = ["ParameterSchema"]

_LIMITS: Final = {
    "number": "maximum minimum exclusiveMaximum exclusiveMinimum multipleOf format",
    "string": "maxLength minLength pattern format",
    "array": "maxItems minItems uniqueItems additionalItems items contains",
    "object": (
        "maxProperties minProperties required propertyNames additionalProperties dependencies "
        "properties patternProperties"
    ),
}
_LIMITS_OF: Final = {kind: frozenset(keywords.split()) for kind, keywords in _LIMITS.items()}
_FIRST: Final = "$ref type const enum not anyOf oneOf allOf if"
_ORDER: Final = {
    keyword: rank for rank, keyword in enumerate(" ".join((_FIRST, *_LIMITS.values())).split())
}
_NO_LIMITS: Final[frozenset[str]] = frozenset()
_CHOICES: Final = frozenset({"const", "enum", "not", "anyOf", "oneOf"})
_BY_NAME: Final = frozenset({"properties", "patternProperties", "definitions", "$defs"})


class ParameterSchema:
    """A tool's parameter schema."""

    def __init__(self, schema: JsonObject) -> None:
        """Take `schema`, which may come from a server or a file.

        Raises:
            ValueError: it cannot be used, or is nested too deeply.
        """
        try:
            self._validator = bounded_validator(_ordered(schema))
        except RecursionError:
            raise ValueError("the schema is nested too deeply") from None

    def fault(self, arguments: Json) -> str | None:
        """The error of `arguments`, or `None`.

        A check that reaches its limit is an error too, which names the limit.
        """
        if not isinstance(arguments, (dict, list)):
            return "Value of params must be an object"
        try:
            with bounded_work():
                error = next(iter(self._validator.iter_errors(arguments)), None)
        except (PatternLimit, SchemaLimit) as problem:
            return f"params cannot be checked: {problem}"
        except RecursionError:
            return "params cannot be checked: schema or arguments are nested too deeply"
        return None if error is None else ", ".join(_messages(error))


def _ordered(schema: Json, *, names: bool = False) -> Json:
    """`schema` with its keywords in ajv's order; maps by name keep their order.

    A schema `false` becomes a keyword, because its errors would name no path.
    """
    if isinstance(schema, list):
        return [{FALSE_SCHEMA: True} if item is False else _ordered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    keys = schema if names else sorted(schema, key=lambda key: _rank(key, schema))
    return {
        key: schema[key]
        if not names and key in ("enum", "const", "required", "default", "examples")
        else {FALSE_SCHEMA: True}
        if schema[key] is False and (names or key == "propertyNames")
        else _ordered(schema[key], names=not names and key in _BY_NAME)
        for key in keys
    }


def _rank(keyword: str, schema: JsonObject) -> float:
    """A keyword's place; the type comes after choices if there are limits for its values."""
    if keyword == "type" and _has_limits(schema):
        return _ORDER["if"] + 0.5
    return _ORDER.get(keyword, len(_ORDER))


def _has_limits(schema: JsonObject) -> bool:
    kind = schema["type"]
    return isinstance(kind, str) and not _LIMITS_OF.get(kind, _NO_LIMITS).isdisjoint(schema)


def _first_errors(errors: Iterator[ValidationError]) -> list[ValidationError]:
    """The errors of an alternative: its first, and after a wrong type its first choice."""
    first_errors = list(islice(errors, 1))
    for error in islice(errors, 1):
        first = first_errors[0]
        same = error.schema is first.schema and error.absolute_path == first.absolute_path
        if first.validator == "type" and same and error.validator in _CHOICES:
            first_errors.append(error)
    return first_errors


def _messages(error: ValidationError) -> list[str]:
    """The messages of ajv for the error; for alternatives, first the errors of each."""
    where = "params" + "".join(f"/{_escaped(step)}" for step in error.absolute_path)
    messages: list[str] = []
    if error.validator in ("anyOf", "oneOf", "propertyNames"):
        for _, branch in groupby(error.context or (), key=lambda inner: inner.schema_path[0]):
            messages += [text for inner in _first_errors(branch) for text in _messages(inner)]
    return [*messages, f"{where} {_wording(error)}"]


def _escaped(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def _wording(error: ValidationError) -> str:
    keyword, value = str(error.validator), error.validator_value
    if keyword == "type":
        return f"must be {_types(error.schema)}"
    if keyword == "required":
        present: Any = error.instance
        required: Any = value
        missing = next(name for name in required if name not in present)
        return f"must have required property '{missing}'"
    if keyword == "oneOf" and not error.context:
        return "must match exactly one schema in oneOf"
    fixed = _FIXED.get(keyword)
    if fixed is not None:
        return fixed
    limit = _LIMIT_TEXTS.get(keyword)
    if limit is not None:
        return limit.format(value)
    return f'must pass "{keyword}" keyword validation'


def _types(schema: Any) -> str:
    value: Any = schema["type"]
    if schema.get("nullable") is True:
        return str(value[0])  # `judging_schema` made a list of it
    return ",".join(value) if isinstance(value, list) else str(value)


_FIXED: Final[Mapping[str, str]] = {
    "additionalProperties": "must NOT have additional properties",
    "enum": "must be equal to one of the allowed values",
    "const": "must be equal to constant",
    "anyOf": "must match a schema in anyOf",
    "oneOf": "must match exactly one schema in oneOf",
    "not": "must NOT be valid",
    "propertyNames": "property name must be valid",
    FALSE_SCHEMA: "boolean schema is false",
    "contains": "must contain at least 1 valid item(s)",
    "uniqueItems": "must NOT have duplicate items",
}
_LIMIT_TEXTS: Final[Mapping[str, str]] = {
    "minimum": "must be >= {}",
    "maximum": "must be <= {}",
    "exclusiveMinimum": "must be > {}",
    "exclusiveMaximum": "must be < {}",
    "multipleOf": "must be multiple of {}",
    "minLength": "must NOT have fewer than {} characters",
    "maxLength": "must NOT have more than {} characters",
    "minItems": "must NOT have fewer than {} items",
    "maxItems": "must NOT have more than {} items",
    "minProperties": "must NOT have fewer than {} properties",
    "maxProperties": "must NOT have more than {} properties",
    "pattern": 'must match pattern "{}"',
    "format": 'must match format "{}"',
}
