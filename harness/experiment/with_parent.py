"""Imported first by the server that workers are forked from, so that it ends with its parent.

It looks for its parent's end only when it has imported what it serves, which takes seconds on a
busy machine. Here Linux is asked to see to it from the start; elsewhere it takes those seconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

__all__ = ["PARENT", "end_with_parent"]

PARENT: Final = "PARITY_SERVER_OF"
"""The variable in which a server finds the process id of its parent. It is for nobody else."""

_SET_PARENT_DEATH_SIGNAL: Final = 1


def end_with_parent() -> None:
    """Have Linux kill this process when its parent is gone, whatever it is doing then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _end_with(parent: int) -> None:
    """Have this process killed when its parent is gone, and leave if it is gone already."""
    end_with_parent()
    if os.getppid() != parent:
        os._exit(0)


_parent = os.environ.pop(PARENT, "")
# A parent imports this for the variable's name, and must not end with its own.
if _parent.isdecimal() and int(_parent) != os.getpid():
    _end_with(int(_parent))
