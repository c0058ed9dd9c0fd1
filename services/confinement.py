"""What a confined session may not do: start a process, open a connection, use a file elsewhere.

A session that runs an untrusted cassette is confined. Each way out of the session checks here at
the place of its use, so that no spelling of a setting or of a tool's name avoids the check. A
refused attempt is reported to the code that confined the session, and raised as `Refused`, an
`OSError`.

The confinement goes with the task, in a context variable: sessions side by side have their own.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NoReturn

from services.scoping import Scoped

__all__ = ["Confinement", "Refusal", "Refused", "Seam", "confined", "may_connect", "may_start"]


class Seam(StrEnum):
    """A way out of a session, in the words that a report uses for it."""

    PROCESS = "starting a process"
    CONNECTION = "opening a connection"
    FILE = "using a file outside of the run's own folders"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One refused attempt."""

    seam: Seam
    what: str
    """The command, the address or the path, as the attempt named it."""


class Refused(PermissionError):
    """The session is confined, and this way out of it is closed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(errno.EACCES, f"{refusal.seam} is refused", refusal.what)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Confinement:
    """A session's confinement. `on_refusal` receives each refused attempt before it is raised."""

    on_refusal: Callable[[Refusal], None]

    def refuse(self, seam: Seam, what: str) -> NoReturn:
        """Report an attempt, and raise.

        Raises:
            Refused: always.
        """
        refusal = Refusal(seam=seam, what=what)
        self.on_refusal(refusal)
        raise Refused(refusal)


_CURRENT: Final[Scoped[Confinement | None]] = Scoped("confinement", None)


def confined(confinement: Confinement | None) -> AbstractContextManager[None]:
    """Confine what runs inside the `with` block, and the tasks and threads that it starts."""
    return _CURRENT.set(confinement)


def may_start(command: str) -> None:
    """Return if the current session may start processes.

    Args:
        command: the command line or the program, for the report.

    Raises:
        Refused: it is confined.
    """
    _ask(Seam.PROCESS, command)


def may_connect(where: str) -> None:
    """Return if the current session may look up names and open connections.

    Args:
        where: the URL, or host and port, for the report.

    Raises:
        Refused: it is confined.
    """
    _ask(Seam.CONNECTION, where)


def _ask(seam: Seam, what: str) -> None:
    current = _CURRENT.value
    if current is not None:
        current.refuse(seam, what)
