"""The wall around a confined run: refuses files outside of its folders.

Services ask before they start a process or open a connection. Too many places open files for that,
so the wall uses the interpreter's audit events: CPython raises one before each `open`, listing,
removal and renaming. It also refuses processes and connections that did not ask
`services.confinement`. A context variable limits it to the tasks of the confined run.

Source: PEP 578; Python's "Audit events table".
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

from services.confinement import Confinement, Seam

__all__ = ["walled"]

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OWN_PACKAGES: Final = (
    "agent_protocol",
    "seeded_faults",
    "services",
    "runtimes",
    "surfaces",
    "harness",
    "adapters",
)
_INSTALLED: Final = ("stdlib", "platstdlib", "purelib", "platlib")
_PROCESSES: Final = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
_CONNECTIONS: Final = frozenset(
    {
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyaddr",
        "socket.gethostbyname",
        "socket.getnameinfo",
        "socket.sendmsg",
        "socket.sendto",
    }
)
_LISTINGS: Final = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk"})
_CHANGES: Final[Mapping[str, int]] = {
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.removexattr": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.setxattr": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
}
"""Event that changes files → the number of its arguments that are paths."""

_Arguments: TypeAlias = tuple[Any, ...]


class _Wall:
    """One confined run's limits."""

    def __init__(
        self, confinement: Confinement, folders: Sequence[Path], code: Sequence[Path]
    ) -> None:
        self._confinement = confinement
        self._folders = tuple(os.path.realpath(folder) for folder in folders)
        self._code = (*_code_folders(), *(os.path.realpath(folder) for folder in code))
        self._refusing = False

    def check(self, event: str, arguments: _Arguments) -> None:
        """Allow or refuse an event.

        Raises:
            Refused: the event is refused.
        """
        if self._refusing:  # reporting a refusal may use files
            return
        if event == "open":
            self._opened(*arguments)
        elif event in _CHANGES:
            for path in arguments[: _CHANGES[event]]:
                self._used(path, writes=True)
        elif event in _LISTINGS:
            self._used(arguments[0], writes=False)
        elif event in _PROCESSES:
            self._refuse(Seam.PROCESS, " ".join(_texts(arguments)) or event)
        elif event in _CONNECTIONS:
            where = [part for part in arguments if isinstance(part, (str, bytes, tuple, int))]
            self._refuse(Seam.CONNECTION, " ".join(_texts(where)) or event)

    def _opened(self, path: Any, mode: str | None, flags: int) -> None:
        # `os.open` has no mode. Removing a tree opens its entries by their bare names.
        if mode is None and isinstance(path, (str, bytes)) and _is_bare(os.fsdecode(path)):
            return
        self._used(path, writes=bool(flags & _WRITES))

    def _used(self, path: Any, *, writes: bool) -> None:
        if path is None or isinstance(path, int):
            return
        text = os.fsdecode(path)
        if writes and _is_bare(text):  # an entry of a tree that is being removed
            return
        place = os.path.realpath(text)
        if _is_inside(place, self._folders):
            return
        if place == os.devnull:
            return
        if not writes and (_is_inside(place, self._code) or _is_code(place)):
            return
        self._refuse(Seam.FILE, text)

    def _refuse(self, seam: Seam, what: str) -> None:
        self._refusing = True
        try:
            self._confinement.refuse(seam, what)
        finally:
            self._refusing = False


_CURRENT: Final[ContextVar[_Wall | None]] = ContextVar("wall", default=None)


@contextmanager
def walled(
    confinement: Confinement, folders: Sequence[Path], code: Sequence[Path] = ()
) -> Iterator[None]:
    """Refuse file use outside of `folders` inside the `with` block.

    Reading `code`, Python's own code and the installed packages stays allowed.
    """
    _install()
    token = _CURRENT.set(_Wall(confinement, folders, code))
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = bytecode
        _CURRENT.reset(token)


@cache
def _install() -> None:
    """Add the hook, once in a process: Python cannot remove an audit hook."""
    current = _CURRENT.get

    def hook(event: str, arguments: _Arguments) -> None:
        wall = current()
        if wall is not None:
            wall.check(event, arguments)

    sys.addaudithook(hook)


@cache
def _code_folders() -> tuple[str, ...]:
    own = Path(__file__).resolve().parents[2]
    folders = [own / name for name in _OWN_PACKAGES]
    folders += [Path(sysconfig.get_path(name)) for name in _INSTALLED]
    return tuple(os.path.realpath(folder) for folder in folders)


def _is_code(place: str) -> bool:
    """Return whether a path outside of the known folders is code that Python itself reads.

    The import system searches all of `sys.path`, and a traceback quotes a module's source.
    """
    if any(getattr(module, "__file__", None) == place for module in list(sys.modules.values())):
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("importlib."):
            return True
        frame = frame.f_back
    return False


def _is_bare(path: str) -> bool:
    return os.sep not in path


def _is_inside(place: str, folders: Sequence[str]) -> bool:
    return any(place == folder or place.startswith(f"{folder}{os.sep}") for folder in folders)


def _texts(values: Sequence[Any]) -> list[str]:
    return [str(value) for value in values if value is not None]
