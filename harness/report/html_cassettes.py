"""The cassettes' text for the report: read where it is safe to, cut where it is long.

A report of a journal names files that somebody else's run named. What is shown of them may be
passed on, so nothing is read that is not plainly the cassette of that name.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

__all__ = ["MOST_CHARACTERS", "CassetteText", "cassette_text"]

MOST_CHARACTERS: Final = 64_000
_SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteText:
    """A cassette's file as it stands on disk."""

    text: str
    cut: bool = False
    """The file goes on where the text ends."""


def cassette_text(name: str, file: str | None) -> CassetteText | None:
    """The text of the cassette `name` in `file`; `None` where it cannot, or must not, be read.

    The file must end in the cassette's name, after links are followed too, and be a plain file of
    YAML: a report never shows another file because a journal says so.
    """
    if file is None or not _plain(name):
        return None
    try:
        found = Path(file).resolve(strict=True)
        if found.suffix not in _SUFFIXES or not stat.S_ISREG(found.stat().st_mode):
            return None
        wanted = PurePosixPath(name).parts
        if found.with_suffix("").parts[-len(wanted) :] != wanted:
            return None
        with found.open(encoding="utf-8", errors="replace") as stream:
            text = stream.read(MOST_CHARACTERS + 1)
    except (OSError, ValueError, RuntimeError):  # a link to itself; a zero byte in the name
        return None
    return CassetteText(text=text[:MOST_CHARACTERS], cut=len(text) > MOST_CHARACTERS)


def _plain(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts
