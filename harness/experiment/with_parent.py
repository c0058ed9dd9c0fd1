"""Imported first by the server that workers are forked from, so that it ends with its parent.

The server looks for its parent's end only when it has imported what it serves, which takes seconds
on a busy machine. Here Linux ends it from its start on; elsewhere it takes those seconds.

`server_environment` makes the server look for modules where its parent does. Without it an older
Python (its issue gh-117378) looks in the current folder first, which may hold a user's `harness`.
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
"""The variable in which a server finds the process id of its parent. No other process reads it."""
_BEFORE: Final = "PARITY_SERVER_ENVIRONMENT"
"""The variable in which a server finds what to restore of its environment, as JSON."""

_SET_PARENT_DEATH_SIGNAL: Final = 1


@contextmanager
def server_environment() -> Iterator[None]:
    """Let a Python that is started inside the `with` block have the `sys.path` of this process.

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
    """Have Linux kill this process when its parent is gone, whatever it is doing then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _end_with(parent: int) -> None:
    """Have this process killed when its parent is gone, and leave if it is gone already."""
    end_with_parent()
    if os.getppid() != parent:
        os._exit(0)


_before = os.environ.pop(_BEFORE, "")
if _before:
    _restore(json.loads(_before))
_parent = os.environ.pop(PARENT, "")
# A parent imports this for the variable's name, and must not end with its own.
if _parent.isdecimal() and int(_parent) != os.getpid():
    _end_with(int(_parent))
    collect_seldom()
