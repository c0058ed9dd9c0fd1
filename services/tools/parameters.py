"""JSON schemas of tools' arguments, from the few kinds of value that the tools take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.wire import Json, JsonObject

__all__ = ["WAIT_FOR_PREVIOUS", "arguments", "array", "boolean", "integer", "string"]


def arguments(required: Sequence[str] | None = None, /, **properties: JsonObject) -> JsonObject:
    """An object with these properties; without `required` the schema has no such keyword."""
    schema: JsonObject = {"type": "object", "properties": properties}
    return schema if required is None else {**schema, "required": list(required)}


def string(description: str | None = None, **keywords: Json) -> JsonObject:
    """A string; `keywords` are more keywords of JSON schema."""
    return _schema("string", description, keywords)


def boolean(description: str, **keywords: Json) -> JsonObject:
    """A boolean."""
    return _schema("boolean", description, keywords)


def integer(description: str, **keywords: Json) -> JsonObject:
    """A whole number."""
    return _schema("integer", description, keywords)


def array(items: JsonObject, description: str | None = None, **keywords: Json) -> JsonObject:
    """A list of values that fit `items`."""
    return _schema("array", description, {"items": items, **keywords})


def _schema(kind: str, description: str | None, keywords: JsonObject) -> JsonObject:
    described = {} if description is None else {"description": description}
    return {"type": kind, **described, **keywords}


WAIT_FOR_PREVIOUS: Final = boolean(
    "True to start only when every call requested before it in this turn has ended; otherwise "
    "calls run side by side."
)
