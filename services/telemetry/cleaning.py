"""Removes secrets and unencodable text from attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from services.redaction import redacted

__all__ = ["Attributes", "cleaned"]

Attributes: TypeAlias = Mapping[str, str | bool | int | float | tuple[str, ...]]


def cleaned(attributes: Attributes) -> Attributes:
    """Return the attributes without secrets and lone surrogates."""
    return {key: _encodable(value) for key, value in attributes.items()}


def _encodable(
    value: str | bool | int | float | tuple[str, ...],
) -> str | bool | int | float | tuple[str, ...]:
    if isinstance(value, str):
        return redacted(value if value.isascii() else value.encode(errors="replace").decode())
    if isinstance(value, tuple):
        return tuple(redacted(item.encode(errors="replace").decode()) for item in value)
    return value
