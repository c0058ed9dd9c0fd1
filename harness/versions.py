"""Which distributions run: ours, and those whose behaviour can show in a trace."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["distributions"]

_SHOWN: Final = ("parity", "google-adk", "google-genai")


def distributions() -> dict[str, str]:
    """Name → version of those that are installed. A copy: the caller may add to it."""
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    """Read once: each costs a search of the installed packages, and runs are short."""
    found = {}
    for name in _SHOWN:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
