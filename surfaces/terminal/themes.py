"""The colours of the terminal by the published names of themes.

Source: `packages/cli` `ui/themes/` for the names. Only those are here whose colours Textual has.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

__all__ = ["DEFAULT_THEME", "THEMES", "THEME_SETTING", "textual_theme"]

THEME_SETTING: Final = "ui.theme"
DEFAULT_THEME: Final = "Default"
THEMES: Final = MappingProxyType(
    {
        "ANSI": "ansi-dark",
        "Atom One": "atom-one-dark",
        DEFAULT_THEME: "textual-dark",
        "Dracula": "dracula",
        "Solarized Dark": "solarized-dark",
        "Tokyo Night": "tokyo-night",
        "ANSI Light": "ansi-light",
        "Default Light": "textual-light",
        "Solarized Light": "solarized-light",
    }
)
"""Textual's theme for each name, dark ones first."""


def textual_theme(name: str) -> str:
    """The theme of Textual for a name of the settings; an unknown name has the default."""
    return THEMES.get(name, THEMES[DEFAULT_THEME])
