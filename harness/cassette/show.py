"""A cassette for readers, with its macros expanded."""

from __future__ import annotations

import hashlib
from typing import Final

from harness.cassette.dump import dump_yaml
from harness.cassette.format import Cassette
from services.wire import Json, JsonObject

__all__ = ["abbreviate", "show_cassette"]

LONGEST: Final = 1500
"""Longer texts, in characters, are abbreviated."""


def show_cassette(cassette: Cassette, *, longest: int | None = LONGEST) -> str:
    """`cassette` as YAML with macros expanded; `longest` None shows texts whole."""
    document: JsonObject = cassette.document
    return dump_yaml(document if longest is None else abbreviate(document, longest))


def abbreviate(value: Json, longest: int = LONGEST) -> Json:
    """JSON with each long text replaced by its beginning, length, digest and end."""
    if isinstance(value, str):
        return _squeeze(value, longest)
    if isinstance(value, dict):
        return {key: abbreviate(item, longest) for key, item in value.items()}
    if isinstance(value, list):
        return [abbreviate(item, longest) for item in value]
    return value


def _squeeze(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = longest // 3
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{text[:end]}…<{len(text)} characters, sha256 {digest}>…{text[-end:]}"
