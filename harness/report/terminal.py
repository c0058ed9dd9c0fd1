"""What a person sees: progress on standard error while it runs, the answer on standard output.

The first screen says whose problem a red run is, whether it is parity, and how to see the first
difference again; what it rests on comes after, and the verdict once more at the end, where a log is
looked at first. Colour and movement only where there is a terminal to show them, and never under
`NO_COLOR`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from harness.parity.verdict import CaseVerdict
from harness.report.model import Finding, RunReport
from harness.report.words import (
    behaviours,
    counts,
    finding_lines,
    headline,
    in_short,
    inert,
)
from harness.triage.blame import blame
from services.redaction import told

__all__ = ["CaseProgress", "progress", "show"]

_STYLE: Final = {
    CaseVerdict.PARITY: "green",
    CaseVerdict.DIVERGENT: "red",
    CaseVerdict.INCONCLUSIVE: "yellow",
}
_LISTED: Final = 10
_NAMED: Final = 5


class CaseProgress(Protocol):
    """Is told what goes on."""

    def done(self, cassette: str, verdict: CaseVerdict) -> None:
        """A case is finished."""
        ...


class _Silent:
    def done(self, cassette: str, verdict: CaseVerdict) -> None:
        return


class _Bar:
    def __init__(self, bar: Progress, total: int) -> None:
        self._bar = bar
        self._task = bar.add_task("cases", total=total)
        self._bad = 0

    def done(self, cassette: str, verdict: CaseVerdict) -> None:
        self._bad += verdict is not CaseVerdict.PARITY
        bad = f" [red]{self._bad} not parity[/red]" if self._bad else ""
        self._bar.update(self._task, advance=1, description=f"{escape(cassette)}{bad}")


@contextmanager
def progress(total: int, stream: TextIO) -> Iterator[CaseProgress]:
    """A progress bar on `stream` where that is a terminal; otherwise nothing at all."""
    if not stream.isatty():
        yield _Silent()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        yield _Bar(bar, total)


def show(report: RunReport, stream: TextIO) -> None:
    """Write the whole report, most wanted first; keys and tokens masked, commands as they are."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    _show_head(report, console)
    _show_findings(report, console)
    if report.cases:
        console.print(_table(report))
    if report.rules:
        hidden = ", ".join(f"{name} {count}" for name, count in report.rules.items())
        console.print(_safe(f"differences hidden by projection rules: {hidden}"), style="dim")
    _show_provider(report, console)
    _show_waivers(report, console)
    for problem in report.problems:
        console.print(_safe(f"not loaded: {problem.message}"), style="red")
    _show_remarks(report, console)
    _show_inconclusive(report, console)
    console.print(_safe(headline(report)), style=f"bold {_STYLE[report.verdict]}")


def _safe(text: str) -> str:
    """`text` on one line, inert for terminals, build servers and for rich."""
    return escape(inert(told(text)))


def _show_head(report: RunReport, console: Console) -> None:
    whose = blame(report)
    if whose is not None:
        console.print(_safe(whose.line), style="bold")
    of = report.planned + len(report.problems)
    came_to = f"{report.verdict.value}: {counts(report)} of {of}"
    facts = [came_to, *filter(None, [behaviours(report)])]
    console.print(_safe("; ".join(facts)), style=f"bold {_STYLE[report.verdict]}")
    if report.since is not None:
        for line in report.since.lines():
            console.print(_safe(line), style="dim")


def _show_findings(report: RunReport, console: Console) -> None:
    findings = report.findings
    if not findings:
        return
    for number, finding in enumerate(findings):
        which = "also divergent" if number else "first divergence"
        console.print(_safe(f"{which}: {finding.case.cassette}{_alike(finding)}"), style="red")
        for line in finding_lines(report, finding, whole=number < _LISTED):
            console.print(f"  {_safe(line)}")


def _alike(finding: Finding) -> str:
    if not finding.alike:
        return ""
    others = [name for name in finding.cluster.cases if name != finding.case.cassette]
    named = ", ".join(others[:_NAMED]) + (", …" if len(others) > _NAMED else "")
    return f" (and {finding.alike} alike: {named})"


def _show_provider(report: RunReport, console: Console) -> None:
    known = (
        ("provider findings inherited from the published core", report.inherited),
        ("provider findings of both sides, the published core not known", report.unsettled),
    )
    for words, found in known:
        if found:
            listed = ", ".join(f"{rule} {count}" for rule, count in found.items())
            console.print(_safe(f"{words}: {listed}"), style="dim")


def _show_waivers(report: RunReport, console: Console) -> None:
    used = [waiver for waiver in report.waivers if waiver.state == "used"]
    if used:
        listed = ", ".join(f"{waiver.id} {waiver.count}" for waiver in used)
        console.print(_safe(f"differences accepted by waivers: {listed}"))
    unused = [waiver.id for waiver in report.waivers if waiver.state == "unused"]
    if unused:
        named, more = unused[:_NAMED], len(unused[_NAMED:])
        listed = ", ".join(named) + (f" and {more} more" if more else "")
        console.print(_safe(f"waivers unused here: {listed}"), style="dim")
    for waiver in report.waivers:
        if waiver.state not in ("used", "unused"):
            count = f"{waiver.count} of at most {waiver.max_count}"
            console.print(_safe(f"waiver {waiver.id}: {waiver.state} ({count})"), style="yellow")
        elif waiver.warning is not None:
            console.print(_safe(waiver.warning), style="yellow")


def _table(report: RunReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    # Of a name that went on in the next line, a build server could take that for a command.
    table.add_column("family", no_wrap=True, overflow="ellipsis")
    for heading in ("cases", "parity", "divergent", "inconclusive"):
        table.add_column(heading, justify="right")
    for row in report.families:
        found = (row.total, row.parity, row.divergent, row.inconclusive)
        style = "red" if row.divergent else "yellow" if row.inconclusive else ""
        table.add_row(
            _safe(row.family), *(str(count) if count else "·" for count in found), style=style
        )
    return table


def _show_remarks(report: RunReport, console: Console) -> None:
    parity = (case for case in report.cases if case.verdict is CaseVerdict.PARITY)
    cases = [case for case in parity if case.remarks]
    for case in cases[:_LISTED]:
        remarks = "; ".join(case.remarks)
        console.print(_safe(f"remark: {case.cassette}: {remarks}"), style="dim")
    if len(cases) > _LISTED:
        console.print(f"… and {len(cases) - _LISTED} more cases with remarks", style="dim")


def _show_inconclusive(report: RunReport, console: Console) -> None:
    cases = [case for case in report.cases if case.verdict is CaseVerdict.INCONCLUSIVE]
    for case in cases[:_LISTED]:
        line = f"inconclusive: {case.cassette}: {in_short(report, case)}"
        console.print(_safe(line), style="yellow")
    if len(cases) > _LISTED:
        console.print(f"… and {len(cases) - _LISTED} more inconclusive cases", style="yellow")
