"""`Evidence`: journals, kill matrices, mutants and generated runs, from files and folders.

The content of a file decides its kind. Files of a folder that are not evidence become remarks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import HarnessError, UsageError
from harness.gate.measurements import KillRun, MutantRun, SampleRun, read_measurement
from harness.report.journal import JournalRecord, read_journal
from harness.sides import baseline_folder
from harness.wording import listed
from services.regular_files import open_regular

__all__ = ["Evidence", "LegRun", "read_evidence"]

_LARGEST: Final = 256 * 1024 * 1024
"""The maximum size of a measurement's file in bytes."""
_MOST_FILES: Final = 2000
"""The maximum number of files in a folder."""
_HEAD: Final = 4096

_WHAT: Final = "a journal, a kill matrix, a sample of mutants or a generated run's summary"
_MEND: Final = "name another place, or make the evidence with `parity measure`"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegRun:
    """The journal of one comparison."""

    record: JournalRecord
    control: str
    """The observed runtime; for a baseline, the runtime that it was made from."""
    candidate: str
    baselines: tuple[str, ...]
    """The sides that are baselines, as the command line named them."""

    @property
    def file(self) -> Path:
        """The journal's file."""
        return self.record.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence of each kind, in the order of the given paths, by name within a folder."""

    legs: tuple[LegRun, ...] = ()
    kills: tuple[KillRun, ...] = ()
    mutants: tuple[MutantRun, ...] = ()
    samples: tuple[SampleRun, ...] = ()
    remarks: tuple[str, ...] = ()
    """Files of a folder that are no evidence or cannot be read."""


def read_evidence(places: Sequence[Path]) -> Evidence:
    """Read the files at `places`, and all files of those that are folders.

    Raises:
        UsageError: A path is missing or unreadable, or an explicitly named file is not evidence.
            Such files in a folder become `remarks`.
    """
    runs: list[LegRun | KillRun | MutantRun | SampleRun] = []
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
            if found is not None:
                runs.append(found)
            elif not place.is_dir():
                raise UsageError(f"{file} is not {_WHAT}", _MEND)
            elif not _is_answer(file):
                others.append(file.name)
        if others:
            remarks.append(f"{place}: no evidence: {listed(others)}")
    return Evidence(
        legs=tuple(each for each in runs if isinstance(each, LegRun)),
        kills=tuple(each for each in runs if isinstance(each, KillRun)),
        mutants=tuple(each for each in runs if isinstance(each, MutantRun)),
        samples=tuple(each for each in runs if isinstance(each, SampleRun)),
        remarks=tuple(remarks),
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


def _read(file: Path) -> LegRun | KillRun | MutantRun | SampleRun | None:
    """Return the evidence in a file; `None` if there is none."""
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
    try:
        return read_measurement(file, json.loads(content))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {error}", "measure it anew with this build") from error


def _is_answer(file: Path) -> bool:
    """Return whether a file is a gate's answer, which `parity measure` writes beside evidence."""
    with open_regular(file) as stream:
        return stream.read(_HEAD).lstrip()[1:].lstrip().startswith(b'"gate"')


def _promising(head: bytes) -> bool:
    """Return whether a document's first key is known; other documents are not read whole."""
    return head[1:].lstrip().startswith((b'"kills"', b'"mutants"', b'"generation"'))


def _leg_run(record: JournalRecord) -> LegRun:
    sides = (record.header.control, record.header.candidate)
    control, candidate = (_observed(record, *side) for side in enumerate(sides))
    baselines = tuple(side for side in sides if baseline_folder(side) is not None)
    return LegRun(record=record, control=control, candidate=candidate, baselines=baselines)


def _observed(record: JournalRecord, number: int, side: str) -> str:
    """Return the runtime of a side; empty if a baseline has no runtime or several."""
    if baseline_folder(side) is None:
        return side
    made = {result.runtimes[number] for result in record.finished.values()} - {""}
    return made.pop() if len(made) == 1 else ""
