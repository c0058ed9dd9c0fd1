"""Whether the API accepts a function's declaration.

`parameters` is the API's own Schema (a subset of OpenAPI 3.0), `parametersJsonSchema` JSON Schema;
a declaration has one of them. Source: the API's reference of FunctionDeclaration and Schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.provider.rules import ProviderFinding
from services.wire import JsonObject

__all__ = ["declaration_findings"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_TYPES: Final = {"string", "number", "integer", "boolean", "array", "object", "null"}
_DEEPEST: Final = 64


def declaration_findings(tools: Any) -> Iterator[ProviderFinding]:
    """What the API refuses in `tools`, the value of a request's `config.tools`."""
    seen: set[str] = set()
    for index, tool in enumerate(tools or ()):
        for number, declaration in enumerate(tool.get("functionDeclarations") or ()):
            path = f"config.tools[{index}].functionDeclarations[{number}]"
            yield from _declaration(path, declaration, seen)


def _declaration(path: str, declaration: JsonObject, seen: set[str]) -> Iterator[ProviderFinding]:
    name = declaration.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield _refused(f"{path}.name", "is not a name that the API takes")
    elif name in seen:
        yield _refused(f"{path}.name", "is declared twice")
    else:
        seen.add(name)
    own, json_schema = declaration.get("parameters"), declaration.get("parametersJsonSchema")
    if own is not None and json_schema is not None:
        yield _refused(path, "has parameters and parametersJsonSchema: one of them")
    if own is not None:
        yield from _schema(f"{path}.parameters", own, 0, strict=True)
    if json_schema is not None:
        yield from _schema(f"{path}.parametersJsonSchema", json_schema, 0, strict=False)


def _schema(path: str, schema: Any, depth: int, *, strict: bool) -> Iterator[ProviderFinding]:
    """`strict`: the API's own subset, in which a list needs `items` and an enum texts."""
    if isinstance(schema, bool) and not strict:
        return
    if not isinstance(schema, Mapping):
        yield _refused(path, "is not a schema")
        return
    if depth > _DEEPEST:
        yield _refused(path, f"is nested deeper than {_DEEPEST} levels")
        return
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) and not strict else [kinds]:
        if kind is not None and (not isinstance(kind, str) or kind.lower() not in _TYPES):
            yield _refused(f"{path}.type", "is not a type")
    yield from _required(path, schema, strict=strict)
    if strict:
        yield from _subset(path, schema)
    for place, inner in _inner(schema):
        yield from _schema(f"{path}.{place}", inner, depth + 1, strict=strict)


def _required(path: str, schema: Mapping[str, Any], *, strict: bool) -> Iterator[ProviderFinding]:
    required = schema.get("required")
    if required is None:
        return
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield _refused(f"{path}.required", "is not a list of names")
        return
    known = schema.get("properties")
    known = known if isinstance(known, Mapping) else {}
    if strict:
        for index, name in enumerate(required):
            if name not in known:
                yield _refused(f"{path}.required[{index}]", "names a property that is not there")


def _subset(path: str, schema: Mapping[str, Any]) -> Iterator[ProviderFinding]:
    kind = schema.get("type")
    if isinstance(kind, str) and kind.lower() == "array" and "items" not in schema:
        yield _refused(path, "is a list that does not say what of: items")
    values = schema.get("enum")
    if values is not None and not (
        isinstance(values, list) and all(isinstance(item, str) and item for item in values)
    ):
        yield _refused(f"{path}.enum", "is not a list of texts with something in them")


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            yield f"properties.{name}", inner
    if "items" in schema and not isinstance(schema["items"], list):
        yield "items", schema["items"]
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        if isinstance(options, list):
            for index, inner in enumerate(options):
                yield f"{key}[{index}]", inner


def _refused(path: str, message: str) -> ProviderFinding:
    return ProviderFinding(rule="schema-refused", path=path, message=message)
