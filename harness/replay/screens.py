"""The part of a screen that moves by itself: the sign and the seconds of the activity line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["steady", "steady_line"]

_ACTIVITY: Final = re.compile(r"^ [⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] (.*\(esc to cancel, )\d+s\)( *)")


def steady_line(line: str) -> str:
    """Return a line of a screen with placeholders for the sign and the seconds of the activity."""
    found = _ACTIVITY.match(line)
    if found is None:
        return line
    return f" <SIGN> {found[1]}<SECONDS>) {line[found.end() :]}"


def steady(lines: Sequence[str]) -> list[str]:
    """Return all lines of a screen with these placeholders."""
    return [steady_line(line) for line in lines]
