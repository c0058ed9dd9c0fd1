"""A side of a comparison that is no runtime: `baseline:DIR`.

Commands ask here before they import anything, so this imports nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["PREFIX", "baseline_folder"]

PREFIX: Final = "baseline:"
"""How the name of such a side begins; what follows is the folder of its files."""


def baseline_folder(side: str) -> Path | None:
    """The folder of a side called `baseline:DIR`; `None` for one that is a runtime's name."""
    return Path(side.removeprefix(PREFIX)) if side.startswith(PREFIX) else None
