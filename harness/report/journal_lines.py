"""Reading the lines of a journal from an untrusted source: bounded, and checked.

A journal comes from another machine or another day. What is read of it is limited in size and
depth, and a result has exactly what a result has, so that no report trips over it later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError
from harness.journal_header import JournalHeader
from harness.parity.verdict import CaseResult
from services.regular_files import open_regular, read_regular

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_LINE", "Lines", "checked_result", "read_header"]

MAX_BYTES: Final = 512 * 1024 * 1024
"""Of a whole journal."""
MAX_LINE: Final = 32 * 1024 * 1024
"""Bytes of one line."""
MAX_DEPTH: Final = 150
"""Of JSON within JSON; values of a run are cut to far less."""

_MEND: Final = "name a journal that `parity run` wrote"
_SCALARS: Final = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The whole lines of a journal."""

    file: Path
    raw: tuple[bytes, ...]
    torn: bool
    """What comes after the last of them is no whole line."""
    whole_bytes: int

    @classmethod
    def of(cls, file: Path) -> Lines:
        """Read a file.

        Raises:
            UsageError: not readable, too large, or without a single whole line.
        """
        try:
            text = read_regular(file, MAX_BYTES)
        except OSError as error:
            problem = f"the journal {file} cannot be read: {error.strerror}"
            raise UsageError(problem, _MEND) from error
        whole = text[: text.rfind(b"\n") + 1]
        if not whole:
            raise UsageError(f"{file}: has no header", _MEND)
        return cls(
            file=file,
            # Not splitlines: a carriage return ends no line here.
            raw=tuple(whole[:-1].split(b"\n")),
            torn=len(whole) < len(text),
            whole_bytes=len(whole),
        )

    @property
    def header(self) -> JournalHeader:
        """What the first line says.

        Raises:
            UsageError: it is no header, or one of another format.
        """
        return _header(self.file, self.raw[0])

    def rest(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each line behind the header with its number, from 2 on.

        Raises:
            UsageError: a line is too long, too deep, or no JSON object.
        """
        for number, raw in enumerate(self.raw[1:], 2):
            try:
                yield number, _parsed(raw)
            except ValueError as error:
                problem = f"{self.file}: line {number} is not a line of a journal: {error}"
                raise UsageError(problem, _MEND) from error


def read_header(file: Path) -> JournalHeader:
    """The header of a journal; reads nothing else.

    Raises:
        UsageError: not readable, no header, or one of another format.
    """
    try:
        with open_regular(file) as stream:
            raw = stream.readline(MAX_LINE + 1)
    except OSError as error:
        problem = f"the journal {file} cannot be read: {error.strerror}"
        raise UsageError(problem, _MEND) from error
    if not raw.endswith(b"\n"):
        raise UsageError(f"{file}: has no header", _MEND)
    return _header(file, raw)


def checked_result(value: dict[str, Any]) -> CaseResult:
    """A result as a run wrote it.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it is none, it says something that its
            parts do not come to, or a value is of another type.
    """
    result = CaseResult.from_json(value)
    written = result.to_json()
    if written != value:
        key = next(key for key in {**written, **value} if written.get(key) != value.get(key))
        raise ValueError(f"{key!r} is not what the rest of the result comes to")
    return result


def _header(file: Path, raw: bytes) -> JournalHeader:
    try:
        return JournalHeader.from_json(_parsed(raw))
    except ValueError as error:
        raise UsageError(
            f"{file}: line 1 is not the header of a journal: {error}", _MEND
        ) from error


def _parsed(raw: bytes) -> dict[str, Any]:
    """One line as JSON.

    Raises:
        ValueError: saying why it is none that a journal has.
    """
    if len(raw) > MAX_LINE:
        raise ValueError(f"it is longer than {MAX_LINE} bytes")
    try:
        line = json.loads(raw, parse_constant=_no_number)
    except RecursionError:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH}") from None
    if not isinstance(line, dict):
        raise ValueError("it is not an object")
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH:
        _check_depth(line)
    return line


def _check_depth(value: object) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if not isinstance(inner, _SCALARS)
        ]
        if not level:
            return
    raise ValueError(f"it is nested deeper than {MAX_DEPTH}")


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON")
