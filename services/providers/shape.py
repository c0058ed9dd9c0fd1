"""Reads JSON of unknown shape: a provider's answer, or a request that anyone wrote.

A value of the wrong type counts as absent where the message still makes sense without it, and is
refused where it does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from services.json_values import parse_json
from services.wire import Json, JsonObject

__all__ = [
    "UnreadableMessage",
    "compact",
    "items",
    "mapping",
    "number",
    "parsed_object",
    "required_mapping",
    "text",
]


class UnreadableMessage(ValueError):
    """A message is not in the provider's format; the text says where and how."""


def mapping(value: Json) -> JsonObject:
    """Return `value`, or an empty mapping for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> Iterator[JsonObject]:
    """Yield the mappings in a list; nothing for anything else."""
    return (
        (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())
    )


def text(value: Json) -> str | None:
    """Return `value` if it is text."""
    return value if isinstance(value, str) else None


def number(value: Json) -> int | float | None:
    """Return `value` if it is a number."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def required_mapping(value: Json, what: str) -> JsonObject:
    """Return `value`.

    Raises:
        UnreadableMessage: it is no mapping.
    """
    if not isinstance(value, dict):
        kind = "nothing" if value is None else type(value).__name__
        raise UnreadableMessage(f"{what} is {kind}, and no JSON object")
    return value


def parsed_object(source: str) -> JsonObject | None:
    """Return the JSON object that `source` stands for; `None` for any other text."""
    try:
        value = parse_json(source)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def compact(value: Json) -> str:
    """Return `value` as JSON without blanks; `parse_json` returns the same value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
