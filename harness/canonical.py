"""Canonical JSON, for comparing and hashing; and text that is safe to display."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from services.wire import printable

__all__ = ["canonical", "printable", "sha256_hex"]


_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(value: Any) -> str:
    """Return `value` as JSON: sorted keys, compact, ASCII only (lone surrogates as escapes).

    JSON objects have no order, so sorting hides no difference. `1`, `1.0` and `true` stay distinct.
    """
    return _ENCODER.encode(value)


def sha256_hex(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8, 64 hex digits; lone surrogates are encoded, too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
