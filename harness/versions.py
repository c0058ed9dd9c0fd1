"""The versions of our distribution and of those that can affect a trace."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["distributions"]

_SHOWN: Final = ("parity", "google-adk", "google-genai")


def distributions() -> dict[str, str]:
    """Return name → version of the installed ones, as a copy that the caller may change."""
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    """Read the versions once, since each takes a search of the installed packages."""
    found = {}
    for name in _SHOWN:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
