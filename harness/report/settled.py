"""From results to a report: the waivers are applied over the whole run, since they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from harness.cassette.find import find_cassettes
from harness.config import default_contract
from harness.coverage.contract import Contract, ContractFileError, load_contract
from harness.errors import HarnessError, UsageError
from harness.inventory import Component, Inventory, code_digest, waivers_component
from harness.journal_header import JournalHeader
from harness.parity.waivers import Waivers, load_waivers, settle
from harness.report.journal import JournalRecord
from harness.report.model import RunReport
from harness.report.tally import Tally

__all__ = [
    "files_of",
    "journal_report",
    "refuse_other_waivers",
    "reproducing_options",
    "settled_report",
    "waivers_of",
]
_SHOWN = ("parity", "google-adk", "google-genai")


def settled_report(
    header: JournalHeader,
    tally: Tally,
    waivers: Waivers,
    *,
    given: int,
    stopped: int = 0,
    files: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> RunReport:
    """The report of a run.

    Args:
        header: What was compared with what.
        tally: The outcome of each case before any waiver, by the name under which it was started.
        waivers: The accepted differences.
        given: How many cases the run was given: fewer outcomes make the report a partial one.
        stopped: Divergent cases after which it was stopped, as asked for; 0: it was not.
        files: Cassette to file, for the command that runs it again.
        options: What that command must repeat.
    """
    results = tally.results
    cases, states = settle([results[name] for name in sorted(results)], waivers)
    return RunReport(
        control=header.control,
        candidate=header.candidate,
        cases=tuple(cases),
        problems=tuple(sorted(tally.problems.values(), key=lambda problem: problem.file)),
        waivers=tuple(states),
        planned=given - len(tally.skipped) - len(tally.problems),
        interrupted=tally.interrupted,
        stopped=stopped,
        # Recorded traffic calls itself by its family, whatever it was started as.
        took_ms={
            results[name].cassette: ms for name, ms in tally.took_ms.items() if name in results
        },
        versions=_versions(header),
        files=files or {},
        options=options,
        # A journal's result that calls itself like one of these is cleaned, and so is that one.
        fresh={results[name].cassette for name in tally.fresh}
        - {result.cassette for name, result in results.items() if name not in tally.fresh},
        header=header,
        contract=_usual_contract(),
    )


def journal_report(
    record: JournalRecord,
    waivers: Waivers,
    *,
    files: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> RunReport:
    """The report of a run whose journal was read back; a run that was cut off is a partial one."""
    tally, given = Tally.after(record), len(record.planned)
    return settled_report(record.header, tally, waivers, given=given, files=files, options=options)


def waivers_of(header: JournalHeader, file: Path | None) -> Waivers:
    """The waivers in `file`, on the day by which the run judged them.

    Raises:
        WaiverFileError: the file cannot be used.
    """
    return load_waivers(file, as_of=date.fromisoformat(header.as_of))


def reproducing_options(trust: bool, waivers_file: Path | None) -> list[str]:
    """What a command must repeat to see what the run saw, where it is not what it would do."""
    options = ["--trust"] if trust else []
    return options if waivers_file is None else [*options, "--waivers", str(waivers_file)]


def _usual_contract() -> Contract:
    try:
        return load_contract(default_contract())
    except ContractFileError:  # a report of what was seen must not fail for what was expected
        return Contract()


def refuse_other_waivers(record: JournalRecord, file: Path | None) -> None:
    """Make sure that `file` holds the waivers that the run was judged by.

    Raises:
        UsageError: it does not; it says which ones differ.
    """
    was = Inventory({"waivers": record.inventory.components.get("waivers", Component())})
    changed = was.differences(Inventory({"waivers": waivers_component(file)}))
    if changed:
        problem = f"{record.file}: the run used other waivers: {'; '.join(changed)}"
        raise UsageError(problem, "name its waivers with --waivers")


def files_of(header: JournalHeader) -> dict[str, str]:
    """Cassette to file, for those of a journal that are here as well.

    A journal is untrusted: nothing outside this folder is searched for it.
    """
    found: dict[str, str] = {}
    here = Path.cwd()
    for path in map(Path, header.paths):
        if not path.resolve().is_relative_to(here):
            continue
        try:
            files = find_cassettes([path], variants=True)
            found |= {file.name: file.argument for file in files}
        except HarnessError:  # made on another machine: the command names the cassette instead
            continue
    return found


def _versions(header: JournalHeader) -> dict[str, str]:
    """What ran: our code by digest, and the distributions whose behaviour can show in a trace."""
    shown = {name: header.environment[name] for name in _SHOWN if name in header.environment}
    return {"code": code_digest(header.components), **shown, **header.made_of}
