"""The parameters of functions: the Gemini API's own schemas as JSON Schema.

The Gemini API takes `parameters` in its subset of OpenAPI (types in upper case, `nullable`) and
`parametersJsonSchema` in JSON Schema. Other providers take JSON Schema only. Source: the Gemini
API, `Schema`.
"""

from __future__ import annotations

from typing import Final

from services.providers.shape import items, mapping
from services.wire import Json, JsonObject

__all__ = ["declarations", "json_schema", "with_json_schemas"]

_NESTED: Final = ("properties", "$defs")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_NOT_JSON_SCHEMA: Final = ("nullable", "propertyOrdering")


def declarations(tools: Json) -> list[JsonObject]:
    """Return the function declarations of a request's `tools`, in order, with JSON Schemas."""
    return [
        with_json_schemas(declaration)
        for tool in items(tools)
        for declaration in items(tool.get("functionDeclarations"))
    ]


def with_json_schemas(declaration: JsonObject) -> JsonObject:
    """Return `{name, description?, parametersJsonSchema?}` of a function declaration."""
    found: JsonObject = {"name": declaration.get("name") or ""}
    if declaration.get("description"):
        found["description"] = declaration["description"]
    schema = declaration.get("parametersJsonSchema")
    if schema is None and declaration.get("parameters") is not None:
        schema = json_schema(declaration["parameters"])
    if isinstance(schema, dict):
        found["parametersJsonSchema"] = schema
    return found


def json_schema(schema: Json) -> Json:
    """Return a schema of the Gemini API as JSON Schema. JSON Schema stays what it is."""
    if not isinstance(schema, dict):
        return schema
    found = {key: _converted(key, value) for key, value in schema.items()}
    kind = found.get("type")
    if isinstance(kind, str) and kind.isupper():
        found["type"] = kind.lower()
    if schema.get("nullable") is True and isinstance(found.get("type"), str):
        found["type"] = [found["type"], "null"]
    return {key: value for key, value in found.items() if key not in _NOT_JSON_SCHEMA}


def _converted(key: str, value: Json) -> Json:
    if key in _NESTED:
        return {name: json_schema(each) for name, each in mapping(value).items()}
    if key in _LISTS and isinstance(value, list):
        return [json_schema(each) for each in value]
    if key in ("items", "additionalProperties"):
        return json_schema(value)
    return value
