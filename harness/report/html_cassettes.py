"""The cassettes' text for the report: read where it is safe to, cut where it is long.

A report of a journal names files that another user's run may have named. What it shows of them may
be passed on, so nothing is read that is not plainly the cassette of that name.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harness.cassette.document import parse_document
from harness.cassette.dump import dump_yaml
from harness.cassette.problems import FormatProblem
from harness.cassette.secrets import secret_problems
from harness.cassette.variants import named_file, plain_name

__all__ = ["MOST_CHARACTERS", "CassetteText", "cassette_text"]

MOST_CHARACTERS: Final = 64_000
_MOST_READ: Final = 8_000_000
_PACKED: Final = ("data:", "base64")
_NOTE: Final = re.compile(r"^note:.*\n(?:[ \t]+.*\n|\n)*", re.MULTILINE)
"""The key with its value: the lines behind it that are indented. To parse all of each cassette of a
corpus would take longer than the run."""
_SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteText:
    """A cassette's file as it stands on disk; written anew where it holds a secret."""

    text: str
    cut: bool = False
    """The file goes on where the text ends."""
    note: str = ""
    """The cassette's own note; empty without one."""


def cassette_text(name: str, file: str | None) -> CassetteText | None:
    """The text of the cassette `name` in `file`; `None` where it cannot, or must not, be read.

    The file must end in the cassette's name, after links are followed too, and be a plain file of
    YAML: a report never shows another file because a journal says so. Nor does it show secrets,
    also where the chunks of a stream have cut them.
    """
    if file is None or not _plain(name):
        return None
    try:
        found = named_file(Path(file))[0].resolve(strict=True)
        if found.suffix not in _SUFFIXES or not stat.S_ISREG(found.stat().st_mode):
            return None
        wanted = PurePosixPath(plain_name(name)).parts
        if found.with_suffix("").parts[-len(wanted) :] != wanted:
            return None
        with found.open(encoding="utf-8", errors="replace") as stream:
            whole = stream.read(_MOST_READ + 1)
    except (OSError, ValueError, RuntimeError):  # a link to itself; a zero byte in the name
        return None
    text = None if len(whole) > _MOST_READ else _without_secrets(found, whole)
    if text is None:
        return None
    return CassetteText(
        text=text[:MOST_CHARACTERS], cut=len(text) > MOST_CHARACTERS, note=_note(text)
    )


def _note(text: str) -> str:
    """The cassette's `note`, where it is plain text that begins in the text's first level."""
    found = _NOTE.search(text)
    if found is None:
        return ""
    try:
        said = parse_document(found[0])
    except FormatProblem:
        return ""
    note = said.get("note") if isinstance(said, dict) else None
    return " ".join(note.split()) if isinstance(note, str) else ""


def _without_secrets(file: Path, text: str) -> str | None:
    """`text`, anew from its values where they hold a secret; `None` where one could be left."""
    try:
        if not secret_problems(file, text):
            return text
        values: Any = parse_document(text)
        # What is packed into a text (files, bodies of streams) is not masked value by value.
        return None if any(mark in text for mark in _PACKED) else dump_yaml(values)
    except FormatProblem:  # no cassette any more: what its lines show is masked with all the rest
        return text


def _plain(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts
