"""`Evidence`: journals, kill matrices and generated runs, read from where they were left.

A place is a file or a folder of files. What a file is, its content says; a folder may hold reports
and other things besides, which are told of and left alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.errors import HarnessError, UsageError
from harness.gate.measurements import KillRun, SampleRun, kill_run, sample_run
from harness.report.journal import JournalRecord, read_journal
from harness.sides import baseline_folder
from services.regular_files import open_regular

__all__ = ["Evidence", "LegRun", "read_evidence"]

_LARGEST: Final = 256 * 1024 * 1024
"""Bytes of a measurement's file that are read at most."""
_MOST_FILES: Final = 2000
"""Files of a folder that are looked at."""
_HEAD: Final = 4096
_NAMED: Final = 5
_WHAT: Final = "a journal, a kill matrix or a generated run's summary"
_MEND: Final = "name another place, or let `parity measure` make what a gate asks for"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegRun:
    """The journal of one comparison."""

    record: JournalRecord
    control: str
    """The runtime that was observed, by its name: of a baseline the one that it was made of."""
    candidate: str
    baselines: tuple[str, ...]
    """The sides that are baselines, as they were named."""

    @property
    def file(self) -> Path:
        """Where it lies."""
        return self.record.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that was found, each kind in the order of the places and by name in a folder."""

    legs: tuple[LegRun, ...] = ()
    kills: tuple[KillRun, ...] = ()
    samples: tuple[SampleRun, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was found besides, and what could not be read of a folder's files."""


def read_evidence(places: Sequence[Path]) -> Evidence:
    """Read what lies at `places`.

    Raises:
        UsageError: a place is not there or not readable; a file that was named is no evidence. Of
            a folder's files such ones are told of in `remarks`.
    """
    legs: list[LegRun] = []
    kills: list[KillRun] = []
    samples: list[SampleRun] = []
    remarks: list[str] = []
    for place in places:
        others: list[str] = []
        for file in _files(place):
            try:
                found = _read(file)
            except HarnessError as error:
                if not place.is_dir():
                    raise
                remarks.append(f"left out: {error}")
                continue
            match found:
                case LegRun():
                    legs.append(found)
                case KillRun():
                    kills.append(found)
                case SampleRun():
                    samples.append(found)
                case None if place.is_dir():
                    others += [] if _is_answer(file) else [file.name]
                case None:
                    raise UsageError(f"{file} is not {_WHAT}", _MEND)
        if others:
            more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
            remarks.append(f"{place}: no evidence: {', '.join(others[:_NAMED])}{more}")
    return Evidence(
        legs=tuple(legs), kills=tuple(kills), samples=tuple(samples), remarks=tuple(remarks)
    )


def _files(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        if not place.exists():
            raise UsageError(f"{place} is not there", _MEND)
        if not place.is_file():
            raise UsageError(f"{place} is neither a file nor a folder", _MEND)
        yield place
        return
    try:
        entries = sorted(each for each in place.iterdir() if each.is_file())
    except OSError as error:
        raise UsageError(f"the folder {place} cannot be read: {error.strerror}") from error
    if len(entries) > _MOST_FILES:
        problem = f"the folder {place} has {len(entries)} files, more than {_MOST_FILES}"
        raise UsageError(problem, "name a folder that holds the evidence alone")
    yield from entries


def _read(file: Path) -> LegRun | KillRun | SampleRun | None:
    """What the file is; `None` if it is no evidence."""
    try:
        with open_regular(file) as stream:
            head = stream.read(_HEAD).lstrip()
            if head.startswith(b'{"journal"'):
                return _leg_run(read_journal(file))
            if not head.startswith(b"{") or not _promising(head):
                return None
            content = head + stream.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise UsageError(f"{file} is larger than {_LARGEST} bytes")
    return _measurement(file, content)


def _is_answer(file: Path) -> bool:
    """Whether a file is an answer of a gate, which `parity measure` leaves beside its evidence."""
    with open_regular(file) as stream:
        return stream.read(_HEAD).lstrip()[1:].lstrip().startswith(b'"gate"')


def _promising(head: bytes) -> bool:
    """Whether a document's first key is one of ours, so that others need not be read whole."""
    return head[1:].lstrip().startswith((b'"kills"', b'"generation"'))


def _measurement(file: Path, content: bytes) -> KillRun | SampleRun:
    try:
        document: dict[str, Any] = json.loads(content)
        return kill_run(file, document) if "kills" in document else sample_run(file, document)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {error}", "measure it anew with this build") from error


def _leg_run(record: JournalRecord) -> LegRun:
    header = record.header
    seen = [
        Counter(result.runtimes[side] for result in record.finished.values()) for side in (0, 1)
    ]
    names = []
    for side, counts in zip((header.control, header.candidate), seen, strict=True):
        counts.pop("", None)
        names.append(_observed(side, counts))
    return LegRun(
        record=record,
        control=names[0],
        candidate=names[1],
        baselines=tuple(
            side for side in (header.control, header.candidate) if baseline_folder(side) is not None
        ),
    )


def _observed(side: str, counts: Counter[str]) -> str:
    """The runtime of a side: of baselines the only one that made them, else none at all."""
    if baseline_folder(side) is None:
        return side
    return next(iter(counts)) if len(counts) == 1 else ""
