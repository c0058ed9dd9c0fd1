"""Reads the JSON that hooks print as JavaScript would.

Where JavaScript would raise, these functions raise `HookOutputError`. The event then goes on as
without hooks, as it does upstream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.wire import Json, js_text

__all__ = ["HookOutputError", "has", "listed", "mapping", "member", "spread"]


class HookOutputError(ValueError):
    """A hook's output is of a shape that cannot be read at all."""


def mapping(value: Json) -> Mapping[str, Any]:
    """`value` where it is an object; empty for everything else, lists too."""
    return value if isinstance(value, Mapping) else {}


def member(value: Json, key: str) -> Json:
    """`value.key`: None where there is none.

    Raises:
        HookOutputError: `value` is null.
    """
    if value is None:
        raise HookOutputError(f"null has no {key}")
    return mapping(value).get(key)


def has(value: Json, key: str) -> bool:
    """`key in value`, for a value that is something.

    Raises:
        HookOutputError: `value` is a text, a number or true.
    """
    if not isinstance(value, (Mapping, list)):
        raise HookOutputError(f"no object to look for {key} in: {js_text(value)}")
    return key in mapping(value)


def listed(value: Json, what: str) -> list[Json]:
    """`value` where it is a list.

    Raises:
        HookOutputError: it is none.
    """
    if not isinstance(value, list):
        raise HookOutputError(f"{what} must be a list")
    return value


def spread(value: Json) -> dict[str, Json]:
    """`{...value}`."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, str)):
        return {str(index): item for index, item in enumerate(value)}
    return {}
