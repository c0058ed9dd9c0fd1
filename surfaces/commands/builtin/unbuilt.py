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
        "footer": "the footer has a fixed set of fields.",
        "statusline": "the footer has a fixed set of fields.",
        "gemma": f"{_VENDOR}.",
        "memory inbox": "it requires Auto Memory, which takes skills out of past sessions.",
        "oncall": f"{_VENDOR}.",
        "privacy": f"{_VENDOR}.",
        "profile": "it measures the published command line's own drawing.",
        "setup-github": f"{_VENDOR}.",
        "upgrade": f"{_VENDOR}.",
        "voice": "dictation is not supported.",
    }
)


def not_built(name: str) -> str | None:
    """Why the published command line's command is not here; `None`: it has no such command.

    Args:
        name: the path of the command's own names (`mcp auth`).
    """
    return _WHY.get(name)
