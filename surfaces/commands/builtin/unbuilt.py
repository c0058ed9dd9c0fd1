"""The commands of the published command line that this product does not have.

They are in no menu. A user who writes one reads why.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

__all__ = ["not_built"]

_VENDOR: Final = "it belongs to the vendor's service"
_EDIT_SETTINGS: Final = "edit settings.json, and start again."
_NO_EXTENSIONS: Final = "this product loads no extensions yet."
_WHY: Final = MappingProxyType(
    {
        "bug-memory": "it makes a heap snapshot of Node.js.",
        "corgi": "it is a joke of the published command line.",
        "docs": f"{_VENDOR}; read docs/ of this product.",
        "footer": "the footer has a fixed set of fields.",
        "statusline": "the footer has a fixed set of fields.",
        "gemma": f"{_VENDOR}.",
        "ide install": "install the companion with the IDE's own means.",
        "oncall": f"{_VENDOR}.",
        "privacy": f"{_VENDOR}.",
        "profile": "it measures the published command line's own drawing.",
        "setup-github": f"{_VENDOR}.",
        "upgrade": f"{_VENDOR}.",
        "agents config": _EDIT_SETTINGS,
        "agents disable": _EDIT_SETTINGS,
        "agents enable": _EDIT_SETTINGS,
        "extensions config": _NO_EXTENSIONS,
        "extensions disable": _NO_EXTENSIONS,
        "extensions enable": _NO_EXTENSIONS,
        "extensions explore": f"{_VENDOR}.",
        "extensions install": _NO_EXTENSIONS,
        "extensions link": _NO_EXTENSIONS,
        "extensions reload": _NO_EXTENSIONS,
        "extensions uninstall": _NO_EXTENSIONS,
        "extensions update": _NO_EXTENSIONS,
        "hooks disable": _EDIT_SETTINGS,
        "hooks disable-all": _EDIT_SETTINGS,
        "hooks enable": _EDIT_SETTINGS,
        "hooks enable-all": _EDIT_SETTINGS,
        "mcp auth": "a server that wants a sign-in asks for it when it starts.",
        "mcp disable": _EDIT_SETTINGS,
        "mcp enable": _EDIT_SETTINGS,
        "memory inbox": "this product extracts no memory from past sessions.",
        "skills disable": _EDIT_SETTINGS,
        "skills enable": _EDIT_SETTINGS,
        "skills link": "link the skill's folder into ~/.gemini/skills.",
        "voice": "dictation is not supported.",
    }
)


def not_built(name: str) -> str | None:
    """Why the published command line's command is not here; `None`: it has no such command.

    Args:
        name: the path of the command's own names (`mcp auth`).
    """
    return _WHY.get(name)
