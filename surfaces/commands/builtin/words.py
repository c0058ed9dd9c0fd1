"""Lines that several listings share."""

from __future__ import annotations

__all__ = ["indented"]


def indented(text: str, by: str = "    ") -> list[str]:
    """The lines of `text`, each behind `by`."""
    return [f"{by}{line}".rstrip() for line in text.splitlines()]
