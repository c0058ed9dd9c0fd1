"""Where in a third party's code an error was raised, for messages: `shop/agent.py, line 12`."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Final

from parity import OWN, ROOT

__all__ = ["calling_place", "place_of", "short_place", "with_place"]

_LIBRARY: Final = ("stdlib", "platstdlib")
_PACKAGES: Final = ("purelib", "platlib")


def place_of(error: BaseException, package: str = "") -> str:
    """Return the last line of a user's code that an error passed; empty if it passed none.

    Args:
        error: With its traceback. A SyntaxError names its place itself.
        package: The name of the user's package. It counts also where it is installed.
    """
    places = [(file, line) for file, line in _lines(error) if _is_theirs(file, package)]
    if not places:
        return ""
    return short_place(*places[-1])


def calling_place(package: str) -> str:
    """Return the innermost line of a user's code that has led to this call; empty without one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_theirs(frame.f_code.co_filename, package):
            return short_place(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return ""


def short_place(file: str, line: int) -> str:
    """Return a place for messages; the file is named from where Python imports it."""
    return f"{_short(file)}, line {line}"


def with_place(words: str, error: BaseException, package: str = "") -> str:
    """Return `words`, followed by the place of the error in parentheses if there is one."""
    place = place_of(error, package)
    return f"{words} ({place})" if place else words


def _lines(error: BaseException) -> Iterator[tuple[str, int]]:
    for frame in traceback.extract_tb(error.__traceback__):
        yield frame.filename, frame.lineno or 0
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        yield error.filename, error.lineno


def _is_theirs(file: str, package: str) -> bool:
    if not os.path.isabs(file) or not file.endswith(".py"):  # noqa: PTH117 - `<frozen importlib>`
        return False
    library, packages, own = _folders()
    if file.startswith(packages):
        inside = next(file.removeprefix(each) for each in packages if file.startswith(each))
        return inside.replace(os.sep, "/").removesuffix(".py").partition("/")[0] == package
    return not file.startswith((*library, *own))


@cache
def _folders() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the folders of Python's library, of installed packages, and of our packages."""
    own = (ROOT / name for name in (*OWN, "parity", "parity_entry", "adapters"))
    return (
        tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in _LIBRARY),
        tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in _PACKAGES),
        tuple(f"{folder}{os.sep}" for folder in own),
    )


def _short(file: str) -> str:
    """Return a file's path from the folder on `sys.path` that it is imported from."""
    parents = [place for place in sys.path if place and file.startswith(f"{place}{os.sep}")]
    return Path(file).relative_to(max(parents, key=len)).as_posix() if parents else file
