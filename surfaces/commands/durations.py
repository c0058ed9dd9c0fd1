"""Spans of time for a user.

Source: `packages/cli` `ui/utils/formatters.ts` (`formatDuration`, `formatTimeAgo`).
"""

from __future__ import annotations

from math import floor

__all__ = ["age", "readable_duration"]


def age(milliseconds: int) -> str:
    """How long ago something was: `just now`, `5m ago`, `3h ago`, `2d ago`."""
    minutes = milliseconds // 60_000
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes}m ago"
    hours = minutes // 60
    return f"{hours}h ago" if hours < 24 else f"{hours // 24}d ago"


def readable_duration(milliseconds: float) -> str:
    """`850ms`, `1.7s`, `2m 5s`, `1h 3m`: no part that is zero."""
    if milliseconds <= 0:
        return "0s"
    if milliseconds < 1000:
        return f"{floor(milliseconds + 0.5)}ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f}s"
    whole = int(seconds)
    parts = ((whole // 3600, "h"), (whole % 3600 // 60, "m"), (whole % 60, "s"))
    return " ".join(f"{number}{unit}" for number, unit in parts if number)
