"""Ends the server of workers with its parent; the server imports this module first.

The server itself notices its parent's end only after it has imported everything, which takes
seconds on a busy machine. With this module Linux ends it at any time; other systems wait.

`server_environment` gives the server the module path of its parent. Without it, an older Python
(issue gh-117378) searches the current folder first, which may contain a user's own `harness`.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from harness.collector import collect_seldom

__all__ = ["PARENT", "end_with_parent", "server_environment"]

PARENT: Final = "PARITY_SERVER_OF"
"""The environment variable of the parent's process id, which only a server reads."""
_BEFORE: Final = "PARITY_SERVER_ENVIRONMENT"
"""The environment variable of the variables that a server restores, as JSON."""

_SET_PARENT_DEATH_SIGNAL: Final = 1


@contextmanager
def server_environment() -> Iterator[None]:
    """Give a Python that starts inside the `with` block the `sys.path` of this process.

    That Python restores its environment when it imports this module.
    """
    asked = {
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path),  # noqa: PTH100
    }
    before = {name: os.environ.get(name) for name in asked}
    os.environ.update(asked, **{_BEFORE: json.dumps(before)})
    try:
        yield
    finally:
        _restore(before)
        del os.environ[_BEFORE]


def _restore(before: dict[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def end_with_parent() -> None:
    """Make Linux kill this process when its parent ends, at any time."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _end_with(parent: int) -> None:
    """Make Linux kill this process when `parent` ends; exit if `parent` has ended already."""
    end_with_parent()
    if os.getppid() != parent:
        os._exit(0)


_before = os.environ.pop(_BEFORE, "")
if _before:
    _restore(json.loads(_before))
_parent = os.environ.pop(PARENT, "")
# The parent imports this module, too, for the variable's name; it must not end with its own parent.
if _parent.isdecimal() and int(_parent) != os.getpid():
    _end_with(int(_parent))
    collect_seldom()
