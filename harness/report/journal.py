"""The journal of a run: JSON lines, each flushed as it happens, so that little can be lost.

First a header that says what is compared with what; then, per case, a `started` and a `finished`
line. A killed run loses at most what was in flight; the same command with `--resume` goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.canonical import canonical
from harness.errors import UsageError
from harness.json_lines import JsonLines, changed
from harness.parity.verdict import CaseResult

__all__ = ["Journal", "JournalHeader", "JournalRecord", "read_journal"]

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHeader:
    """What a run compares. Results of runs with different headers are not put together."""

    control: str
    candidate: str
    corpus: str
    """Digest over names and contents of the cassettes that the run was given."""
    waivers: str
    """Digest of the waivers file; empty without one."""
    as_of: str
    """The day by which waivers are judged, ISO."""
    repeat: int
    trust: bool
    versions: Mapping[str, str] = field(default_factory=dict)
    """Distribution, or `code`, to version or digest."""

    def differences(self, other: JournalHeader) -> list[str]:
        """In what two headers differ, in words; `self` is what the journal says."""
        before, now = asdict(self), asdict(other)
        was, is_now = before.pop("versions"), now.pop("versions")
        return [*changed(before, now), *changed(was, is_now)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRecord:
    """A journal as read back."""

    header: JournalHeader
    finished: Mapping[str, CaseResult]
    """Results before waivers are settled over the run; the last line of a cassette counts."""
    in_flight: tuple[str, ...]
    """Started and not finished."""
    torn: bool
    """The last line was cut off, by a kill or a full disk."""
    ended: bool
    """The run came to its end."""
    whole_bytes: int
    """Length of the file up to the last whole line."""


class Journal(JsonLines):
    """A journal being written. Use as a context manager."""

    def __init__(self, file: Path, header: JournalHeader, *, resume: bool = False) -> None:
        """Open `file` for writing, or with `resume` for going on.

        Raises:
            UsageError: not writable; not a journal; or one of another run.
        """
        self.finished: Mapping[str, CaseResult] = {}
        record = read_journal(file) if resume and file.exists() else None
        if record is not None:
            differing = record.header.differences(header)
            if differing:
                mend = "run without --resume, or give another --journal"
                raise UsageError(f"{file}: belongs to another run: {'; '.join(differing)}", mend)
            self.finished = record.finished
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if record is not None:
                os.truncate(file, record.whole_bytes)
            super().__init__(file.open("w" if record is None else "a", encoding="utf-8"))
        except OSError as error:
            problem = f"the journal {file} cannot be written: {error.strerror}"
            raise UsageError(problem, "choose another place with --journal") from error
        if record is None:
            self._write({"journal": _FORMAT, **asdict(header)})

    def started(self, cassette: str) -> None:
        """Write that a case was handed out."""
        self._write({"started": cassette})

    def closed(self, result: CaseResult) -> None:
        """Write a case's result, with the digests of both sides."""
        self._write({"finished": result.cassette, **result.to_json()})

    def ended(self) -> None:
        """Write that the run came to its end."""
        self._write({"ended": True})


def read_journal(file: Path) -> JournalRecord:
    """Read a journal back. A torn last line is left out; a broken one before it is an error.

    Raises:
        UsageError: not readable, not a journal, or of a format that this build does not read.
    """
    try:
        text = file.read_bytes()
    except OSError as error:
        raise UsageError(f"the journal {file} cannot be read: {error.strerror}") from error
    whole = text[: text.rfind(b"\n") + 1]
    finished: dict[str, CaseResult] = {}
    started: dict[str, None] = {}
    header: JournalHeader | None = None
    ended = False
    for number, raw in enumerate(whole.splitlines(), 1):
        try:
            line = json.loads(raw)
            if header is None:
                header = _header(line)
            elif "finished" in line:
                finished[line["finished"]] = CaseResult.from_json(line)
                started.pop(line["finished"], None)
            elif "started" in line:
                started[line["started"]] = None
            else:
                ended = bool(line.get("ended"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"{file}: line {number} is not a journal's: {error}"
            raise UsageError(problem, "run without --resume, or give another --journal") from error
    if header is None:
        raise UsageError(f"{file}: has no header", "run without --resume")
    return JournalRecord(
        header=header,
        finished=finished,
        in_flight=tuple(started),
        torn=len(whole) < len(text),
        ended=ended,
        whole_bytes=len(whole),
    )


def _header(line: dict[str, Any]) -> JournalHeader:
    version = line.pop("journal", None)
    if version != _FORMAT:
        raise ValueError(f"journal format {canonical(version)}; this build reads {_FORMAT}")
    return JournalHeader(**line)
