"""One cassette over many runs: how it came out each time, and what had changed since the last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.explain import first_cause
from harness.inventory import Component, Inventory
from harness.parity.verdict import CaseResult
from harness.report.journal import JournalRecord, read_journal
from harness.report.kept import JOURNALS, kept_journals
from harness.report.settled import journal_report, waivers_of
from harness.wording import did_you_mean, listed, near_words

__all__ = ["Entry", "histories", "journal_files", "matched_name", "read_known"]

_CASE_WISE = ("corpus", "baselines")
"""Components with files of several cassettes: only this cassette's own matter to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run that took the cassette on."""

    record: JournalRecord
    words: str
    """The verdict, and what it rests on: `divergent: events[4] usage (missing)`."""
    changed: tuple[str, ...] = ()
    """What was not as in the run of the same two sides before it, in lines."""


def journal_files(places: Sequence[Path]) -> list[Path]:
    """The journals at `places`: files as they are, folders for what is in them; `[]`: those kept.

    Raises:
        UsageError: there is nothing of that name, or no journal at all.
    """
    found: list[Path] = []
    for place in places:
        if place.is_dir():
            found += sorted(place.glob("*.jsonl"))
        elif place.exists():
            found.append(place)
        else:
            raise UsageError(f"{place} does not exist", "name journals or folders of them")
    if not places:
        found = kept_journals()
    if not found:
        where = ", ".join(map(str, places)) or str(JOURNALS)
        raise UsageError(f"no journals in {where}", "make one with `parity run`")
    return list(dict.fromkeys(found))


def read_known(files: Iterable[Path]) -> tuple[list[JournalRecord], list[str]]:
    """The journals that can be read, the earliest run first; and why the others cannot."""
    records, refused = [], []
    for file in files:
        try:
            records.append(read_journal(file))
        except UsageError as error:
            refused.append(error.problem)
    records.sort(key=lambda record: (record.header.started_at, str(record.file)))
    return records, refused


def matched_name(asked: str, records: Iterable[JournalRecord]) -> str:
    """The cassette that is meant: its name, or a part that only one has.

    Raises:
        UsageError: none has it, or several; with near names.
    """
    known = {name for record in records for name in record.planned}
    if asked in known:
        return asked
    with_it = sorted(name for name in known if asked in name)
    if len(with_it) == 1:
        return with_it[0]
    if with_it:
        names = listed(with_it, 3)
        raise UsageError(f"{asked!r} matches several cassettes", f"name one of {names}")
    mend = did_you_mean(near_words(asked, sorted(known)), "see `parity list`")
    raise UsageError(f"no run in these journals has a cassette {asked!r}", mend)


def histories(name: str, records: Iterable[JournalRecord], waivers: Path | None) -> Iterator[Entry]:
    """How `name` came out in each of the runs that took it on, in their order.

    By the waivers in `waivers`, on the day by which each run judged them.
    """
    before: dict[tuple[str, str], JournalRecord] = {}
    for record in records:
        if name not in record.planned:
            continue
        sides = (record.header.control, record.header.candidate)
        previous = before.get(sides)
        changed = [] if previous is None else _changed(name, previous, record)
        before[sides] = record
        words = _words(name, record, waivers)
        yield Entry(record=record, words=words, changed=tuple(changed))


def _changed(name: str, was: JournalRecord, now: JournalRecord) -> list[str]:
    """In what two runs differ that this cassette could feel."""
    apart = frozenset({"components", "shard", "as_of"})
    changed = was.header.differences(now.header, but=apart)
    return changed + _about(name, was.inventory).differences(_about(name, now.inventory))


def _about(name: str, inventory: Inventory) -> Inventory:
    """The inventory with just this cassette's own files where every cassette has its own."""
    ours = (name, f"{name}.json")

    def kept(component: Component) -> Component:
        files = {
            file: digest
            for file, digest in component.files.items()
            if file in ours or file.startswith(f"{ours[1]} (")
        }
        return Component(files)

    return Inventory(
        {
            title: kept(component) if title in _CASE_WISE else component
            for title, component in inventory.components.items()
        }
    )


def _words(name: str, record: JournalRecord, waivers: Path | None) -> str:
    if name in record.skipped:
        return "skipped"
    if name in record.problems:
        return f"not loaded: {record.problems[name].message}"
    if name not in record.finished:
        return "not judged: the run was cut off"
    report = journal_report(record, waivers_of(record.header, waivers))
    return _of_result(next(case for case in report.cases if case.cassette == name))


def _of_result(result: CaseResult) -> str:
    cause = first_cause(result)
    reasons = (*result.blockers, *result.doubts)
    if result.open and cause is not None and not result.blockers:
        return f"{result.verdict.value}: {cause.place} ({cause.kind.value}) [{cause.fingerprint}]"
    if reasons:
        return f"{result.verdict.value}: {reasons[0]}"
    waived = ", ".join(sorted(set(result.waived.values())))
    return f"{result.verdict.value} (waived: {waived})" if waived else result.verdict.value
