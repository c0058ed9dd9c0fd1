"""Checks that the machine has what a run needs; otherwise the observation decides nothing.

The free room is checked before and after a run, and a file is written after it: that covers the
processes that the run started, whose errors this process does not see. During the run services
report the machine's errors (`services.exhaustion`): that covers a shortage which ends with the run.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from harness.errors import ReplayFailure
from services.exhaustion import Shortage, notice, noticing

__all__ = ["ROOM", "machine_suffices", "shortage_in"]

ROOM: Final = 16 * 1024 * 1024
"""Bytes that a run may need."""
_FILES: Final = 1000
"""Files that a run may need."""
_DESCRIPTORS: Final = 64
"""Open files that a run may need."""
_PROBE: Final = bytes(16 * 1024)
"""Written after a run: a used-up quota or a read-only device shows only here."""
_OPEN_FILES: Final = Path("/dev/fd")
_MEND: Final = "make room and run again"


@contextmanager
def machine_suffices(where: str, folder: Path, shown: Callable[[str], str]) -> Iterator[None]:
    """Run the `with` block, and fail if the machine lacks something.

    Args:
        where: The name of the run, for the message.
        folder: The folder of the run.
        shown: Formats a path of the run for the message.

    Raises:
        ReplayFailure: the machine lacks something before, in or after the block.
    """
    found: list[Shortage] = []
    _refuse(where, shortage_in(folder), shown)
    with noticing(found.append):
        try:
            yield
        except Exception as error:
            notice(error)
            if found:
                raise _failure(where, found[0], shown) from error
            raise
        _refuse(where, found[0] if found else shortage_in(folder, written=True), shown)


def shortage_in(folder: Path, *, written: bool = False) -> Shortage | None:
    """What a run in `folder` would lack; with `written` by writing a file there, too."""
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if 0 <= largest < ROOM:
        return Shortage(problem=f"no file may grow beyond {largest} bytes here (ulimit -f)")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        disk = os.statvfs(folder)
        if disk.f_bavail * disk.f_frsize < ROOM:
            left = disk.f_bavail * disk.f_frsize // 1024
            needed = f"of the {ROOM // 1024} KiB that a run may need"
            return Shortage(problem=f"only {left} KiB are left {needed}", path=str(folder))
        if disk.f_files > 0 and disk.f_favail < _FILES:
            return Shortage(problem=f"only {disk.f_favail} more files fit", path=str(folder))
        if 0 <= most < len(os.listdir(_OPEN_FILES)) + _DESCRIPTORS:  # noqa: PTH208 - only counted
            return Shortage(problem=f"only {most} files may be open (ulimit -n)")
        if written:
            # Unbuffered and left there: both runs of every case pay for this.
            with (folder / "probe").open("wb", buffering=0) as probe:
                probe.write(_PROBE)
    except OSError as error:
        return Shortage(problem=error.strerror or str(error), path=str(folder))
    return None


def _refuse(where: str, shortage: Shortage | None, shown: Callable[[str], str]) -> None:
    if shortage is not None:
        raise _failure(where, shortage, shown)


def _failure(where: str, shortage: Shortage, shown: Callable[[str], str]) -> ReplayFailure:
    if shortage.by_limit:
        problem = f"a limit of the product was reached: {shortage.problem}"
        return ReplayFailure(where, problem, "let the cassette ask for less")
    at = "" if shortage.path is None else f", at {shown(shortage.path)}"
    return ReplayFailure(where, f"the machine cannot run it: {shortage.problem}{at}", _MEND)
