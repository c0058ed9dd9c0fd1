"""The journals of the last runs, kept in `.parity/journals`; a failure to keep one is ignored."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from harness.journal_lock import lock_file
from harness.report.journal_lines import MAX_LINE
from services.private_files import PRIVATE_FILE
from services.regular_files import open_regular

__all__ = ["JOURNALS", "MOST", "keep_copy", "kept_journals", "kept_place", "prune"]

JOURNALS: Final = Path(".parity") / "journals"
"""Where they are, under the folder in which a run was started."""
MOST: Final = 20
"""As many are kept; the oldest goes first."""

_NAME: Final = re.compile(r"(\d{8}T\d{6}Z)-(\d+)\.jsonl", re.ASCII)
_TRIES: Final = 1000


def kept_place(started_at: datetime, folder: Path = JOURNALS) -> Path | None:
    """A new, empty file for the journal of a run; `None` where none can be made."""
    stamp = started_at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n")
        for number in range(1, _TRIES):
            file = folder / f"{stamp}-{number}.jsonl"
            with suppress(FileExistsError):
                file.touch(PRIVATE_FILE, exist_ok=False)
                return file
    except OSError:
        return None
    return None


def keep_copy(
    journal: Path, started_at: datetime, folder: Path = JOURNALS, *, again: bool = False
) -> None:
    """Keep a journal that was written somewhere else as well, if that can be.

    Args:
        journal: The file.
        started_at: When its run began, or was resumed.
        folder: Where journals are kept.
        again: The run was resumed: its earlier copy is replaced.
    """
    if journal.absolute().parent == folder.absolute():
        return
    if again:
        for file in kept_journals(folder):
            if _head(file) == _head(journal):
                _forget(file)
    place = kept_place(started_at, folder)
    if place is not None:
        try:
            shutil.copyfile(journal, place)
        except OSError:
            _forget(place)


def prune(folder: Path = JOURNALS) -> None:
    """Let go of the oldest."""
    for file in kept_journals(folder)[:-MOST]:
        _forget(file)


def kept_journals(folder: Path = JOURNALS) -> list[Path]:
    """The journals kept there, oldest first. Other files in the folder are passed over."""
    try:
        found = [
            (match, file) for file in folder.iterdir() if (match := _NAME.fullmatch(file.name))
        ]
    except OSError:
        return []
    return [file for match, file in sorted(found, key=lambda it: (it[0][1], int(it[0][2])))]


def _head(file: Path) -> bytes:
    """Identifies a run: its header."""
    try:
        with open_regular(file) as stream:
            return stream.readline(MAX_LINE + 1)
    except OSError:
        return b""


def _forget(file: Path) -> None:
    for each in (file, lock_file(file)):
        with suppress(OSError):
            each.unlink()
