"""The commands of the published command line that this product does not have.

They are in no menu. A user who writes one reads why.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

__all__ = ["not_built"]

_VENDOR: Final = "it belongs to the vendor's service"
_WHY: Final = MappingProxyType(
    {
        "bug-memory": "it makes a heap snapshot of Node.js.",
        "corgi": "it is a joke of the published command line.",
        "docs": f"{_VENDOR}; read docs/ of this product.",
        "footer": "the footer has a fixed set of fields.",
        "statusline": "the footer has a fixed set of fields.",
        "gemma": f"{_VENDOR}.",
        "ide": "the companion of an IDE is not supported.",
        "oncall": f"{_VENDOR}.",
        "privacy": f"{_VENDOR}.",
        "profile": "it measures the published command line's own drawing.",
        "setup-github": f"{_VENDOR}.",
        "terminal-setup": "the terminal needs no key bindings for it.",
        "upgrade": f"{_VENDOR}.",
        "voice": "dictation is not supported.",
    }
)


def not_built(name: str) -> str | None:
    """Why the published command line's `name` is not here; `None`: it has no such command."""
    return _WHY.get(name)
