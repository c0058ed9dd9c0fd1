"""`parity history`: how one cassette came out in the runs whose journals are there."""

from __future__ import annotations

from pathlib import Path

from harness.canonical import printable
from harness.commands.naming import journal_place, name_of
from harness.config import default_waivers
from harness.report.history import histories, journal_files, matched_name, read_known
from harness.wrapping import say

__all__ = ["history"]

_SHOWN = 12


def history(cassette: str, places: tuple[Path, ...], waivers_file: Path | None) -> None:
    """Run `parity history`."""
    records, refused = read_known(journal_files([journal_place(place) for place in places]))
    for reason in refused:
        say(printable(f"skipped: {reason}"), err=True)
    name = matched_name(name_of(cassette), records)
    say(printable(name))
    for entry in histories(name, records, waivers_file or default_waivers()):
        header = entry.record.header
        revision = header.revision[:10] + ("+" if header.dirty else "") or "no revision"
        for line in entry.changed[:_SHOWN]:
            say(printable(f"    changed: {line}"))
        if len(entry.changed) > _SHOWN:
            say(f"    changed: … and {len(entry.changed) - _SHOWN} more")
        sides = f"{header.control} and {header.candidate}"
        say(printable(f"{header.started_at}  {revision}  {sides}: {entry.words}"))
