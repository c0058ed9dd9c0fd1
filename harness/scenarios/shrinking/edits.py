"""Places in a cassette document, and copies of a document with another value at a place."""

from __future__ import annotations

from collections.abc import Iterator

from services.wire import Json, JsonObject

__all__ = ["Place", "places", "value_at", "with_value"]

Place = tuple[str | int, ...]
"""Keys and indices from the document's root."""


def places(document: JsonObject, pattern: str) -> list[Place]:
    """The places in `document` that `pattern` leads to, in order.

    `pattern` is keys joined by `/`, where `*` is every key or index: `model/*/stream`. An empty
    pattern is the document itself.
    """
    words = pattern.split("/") if pattern else []
    return list(_found(document, words, ()))


def _found(value: Json, words: list[str], here: Place) -> Iterator[Place]:
    if not words:
        yield here
        return
    word, rest = words[0], words[1:]
    if isinstance(value, dict):
        for key in value if word == "*" else [word] if word in value else []:
            yield from _found(value[key], rest, (*here, key))
    elif isinstance(value, list) and word == "*":
        for index, item in enumerate(value):
            yield from _found(item, rest, (*here, index))


def value_at(document: JsonObject, place: Place) -> Json:
    """The value at `place`."""
    value: Json = document
    for key in place:
        value = value[key]
    return value


def with_value(document: JsonObject, place: Place, value: Json) -> JsonObject:
    """A copy of `document` with `value` at `place`; it shares the other values."""
    changed: JsonObject = _changed(document, place, value)
    return changed


def _changed(node: Json, place: Place, value: Json) -> Json:
    if not place:
        return value
    key, rest = place[0], place[1:]
    if isinstance(node, dict):
        return {**node, key: _changed(node[key], rest, value)}
    assert isinstance(key, int), "lists are gone through by index"
    return [*node[:key], _changed(node[key], rest, value), *node[key + 1 :]]
