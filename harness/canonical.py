"""Canonical JSON, in which the harness compares and hashes; and text made safe to show."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from services.wire import printable

__all__ = ["canonical", "printable", "sha256_hex"]


_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(value: Any) -> str:
    """`value` as JSON: keys sorted, compact, ASCII only (lone surrogates survive as escapes).

    JSON objects have no order, so sorting hides nothing; `1` and `1.0` and `true` stay apart.
    """
    return _ENCODER.encode(value)


def sha256_hex(text: str) -> str:
    """SHA-256 of `text` in UTF-8, 64 hex digits. Lone surrogates are hashed as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
