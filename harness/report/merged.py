"""Journals of one run that was divided, put together: what one machine would have left.

Only results of the same experiment are put together. A case that two
journals have is fine where both say the same of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.parity.verdict import CaseResult
from harness.report.journal import (
    Journal,
    JournalRecord,
    locked_place,
    read_journal,
    refuse_other_run,
)
from harness.report.listening import replayed
from harness.wording import listed

__all__ = ["Merged", "merge", "read_all", "write_merged"]

_MEND: Final = "merge journals of one run: the same build, corpus, waivers and packages"
_GO_ON: Final = "`parity run` with its options, --shard and --resume completes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What several journals come to."""

    record: JournalRecord
    """As if one run had left it."""
    lacks: tuple[str, ...]
    """What is missing, in lines; empty where the run is whole."""


def merge(records: Sequence[JournalRecord]) -> Merged:
    """Put journals together.

    Raises:
        UsageError: they are of different runs, saying in what; or of one case they say different
            things, naming it.
    """
    first, *others = records
    for other in others:
        mend = f"{_MEND} ({other.file} differs)"
        shard = frozenset({"shard"})
        refuse_other_run(first, other.header, other.inventory, but=shard, mend=mend)
    finished: dict[str, CaseResult] = {}
    whose: dict[str, Path] = {}
    for record in records:
        for name, result in record.finished.items():
            known = finished.setdefault(name, result)
            # Real processes end in this or that order: what is only shown of a case may differ.
            if replace(known, timelines="") != replace(result, timelines=""):
                problem = f"{whose[name]} and {record.file} have different results for {name}"
                raise UsageError(problem, "run that case again: it may depend on the machine")
            finished[name] = min(known, result, key=lambda each: each.timelines)
            whose.setdefault(name, record.file)
    problems = {name: it for record in reversed(records) for name, it in record.problems.items()}
    skipped = frozenset(name for record in records for name in record.skipped)
    for name in sorted({*finished} & {*problems, *skipped}):
        raise UsageError(f"{name} was judged in {whose[name]}, but not in another journal", _MEND)
    revisions = {record.header.revision for record in records}
    together = replace(
        first,
        header=replace(
            first.header,
            shard="",
            started_at=min(record.header.started_at for record in records),
            revision=first.header.revision if len(revisions) == 1 else "",
            dirty=any(record.header.dirty for record in records),
        ),
        finished=finished,
        skipped=skipped,
        problems=problems,
        took_ms={n: ms for record in reversed(records) for n, ms in record.took_ms.items()},
        in_flight=(),
        torn=False,
        ended=True,
    )
    together = replace(together, ended=not together.missing)
    return Merged(record=together, lacks=tuple(_lacks(together, records)))


def write_merged(merged: Merged, file: Path) -> None:
    """Write the journal, whole at once: results sorted by name, as one worker would leave them.

    A partial journal can be resumed like any other.

    Raises:
        UsageError: it cannot be written, is no journal, or another process writes to it.
    """
    record = merged.record
    part = file.with_name(f".{file.name}.part")
    lock = locked_place(file)
    try:
        _write_whole(record, part)
        part.replace(file)
    except OSError as error:
        problem = f"the journal {file} cannot be written: {error.strerror}"
        raise UsageError(problem, "choose another place with --journal") from error
    finally:
        part.unlink(missing_ok=True)
        lock.release()


def _write_whole(record: JournalRecord, file: Path) -> None:
    with Journal(file, record.header, record.inventory) as journal:
        for event in replayed(record):
            journal(event)


def read_all(files: Sequence[Path]) -> list[JournalRecord]:
    """Read journals, the same file only once.

    Raises:
        UsageError: one cannot be read.
    """
    return [read_journal(file) for file in dict.fromkeys(files)]


def _lacks(together: JournalRecord, records: Sequence[JournalRecord]) -> list[str]:
    missing = together.missing
    if not missing:
        return []
    lines = [f"missing: {len(missing)} of {len(together.planned)} cases: {listed(missing)}"]
    for record in records:
        if record.missing:
            part = f"part {record.header.shard}, " if record.header.shard else ""
            left = len(record.missing)
            lines.append(
                f"{part}{record.file}: is incomplete, {left} of its cases are missing; {_GO_ON}"
            )
    there = {record.header.shard for record in records}
    counts = {shard.partition("/")[2] for shard in there if shard}
    if "" not in there and len(counts) == 1:
        count = int(counts.pop())
        absent = [f"{n}/{count}" for n in range(1, count + 1) if f"{n}/{count}" not in there]
        if absent:
            lines.append(f"no journal of shard {', '.join(absent)}")
    return lines
