"""`parity history`: how one cassette came out in the runs whose journals are there."""

from __future__ import annotations

from pathlib import Path

import click

from harness.canonical import printable
from harness.commands import options
from harness.commands.naming import journal_place, name_of
from harness.config import default_waivers
from harness.report.history import histories, journal_files, matched_name, read_known
from harness.wrapping import say

__all__ = ["history"]

_SHOWN = 12


@click.command()
@click.argument("cassette")
@click.option(
    "--journals",
    "places",
    multiple=True,
    type=options.PLACE,
    help="A journal, or a folder of them, instead of those kept here; can be given repeatedly.",
)
@options.waivers
def history(cassette: str, places: tuple[Path, ...], waivers_file: Path | None) -> None:
    """List how a cassette came out in past runs.

    The oldest run comes first, each with what had changed since the one before. CASSETTE is its
    file, its name, or a part of the name that no other has. Every `parity run` leaves its journal
    in .parity/journals; the last twenty are there. Each line has the time, the revision (with a +
    where files differed from it), the sides and the verdict by the waivers as they are now, then
    the first difference with its fingerprint; above it stands what was not as in the run before.

    \b
    parity history tools/parallel_reads
    parity history tools/parallel_reads --journals nightly/

    Exit codes: 0 listed; 2 wrong usage, or a cassette that no run took on.
    """  # noqa: D301 - click's mark for lines that stay as they are
    records, refused = read_known(journal_files([journal_place(place) for place in places]))
    for reason in refused:
        say(printable(f"passed over: {reason}"), err=True)
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
