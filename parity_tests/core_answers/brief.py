"""Long texts of answers in a short form, so that the files of answers stay small."""

from __future__ import annotations

import hashlib
from typing import Any

__all__ = ["brief"]


def brief(value: Any, shown: int = 40) -> Any:
    """The value with each text of more than `shown` characters as its beginning and a hash."""
    if isinstance(value, str) and len(value) > shown:
        return f"{value[:20]}…{hashlib.sha256(value.encode(errors='replace')).hexdigest()[:8]}"
    if isinstance(value, list):
        return [brief(each, shown) for each in value]
    if isinstance(value, dict):
        return {key: brief(each, shown) for key, each in value.items()}
    return value
