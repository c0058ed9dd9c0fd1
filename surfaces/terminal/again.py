"""`Again`: keys that do something when they are pressed twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from surfaces.terminal.status import ActivityLine

__all__ = ["Again"]

_AGAIN_S: Final = 3.0
"""How long a first Ctrl+C, Ctrl+D or Esc waits for the second."""
_AGAIN: Final = {
    "ctrl+c": "Press Ctrl+C again to exit.",
    "ctrl+d": "Press Ctrl+D again to exit.",
    "escape": "Press Esc again to clear prompt.",
    "rewind": "Press Esc again to rewind.",
    "suspend": "Press Ctrl+Z again to suspend.",
}


class Again:
    """Remembers which key was pressed once.

    Args:
        line: says what a second time does; it is asked for when a key is pressed.
    """

    def __init__(self, line: Callable[[], ActivityLine]) -> None:
        self._line = line
        self._armed: str | None = None

    def pressed(self, key: str) -> bool:
        """Whether `key` was pressed a moment ago, too; if not, say what a second time does."""
        if self._armed == key:
            return True
        self._armed = key
        line = self._line()
        line.hint = _AGAIN[key]
        line.set_timer(_AGAIN_S, self.forget)
        return False

    def forget(self) -> None:
        """The next press is a first one."""
        self._armed = None
        self._line().hint = ""
