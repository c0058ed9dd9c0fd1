"""What a person sees: progress on standard error while it runs, the answer on standard output.

Colour and movement only where there is a terminal to show them, and never under `NO_COLOR`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from harness.canonical import printable
from harness.parity.explain import explain
from harness.parity.verdict import CaseVerdict
from harness.report.model import RunReport

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
    """Write the whole report: table by family, what is not parity, and the verdict last."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    if report.cases:
        console.print(_table(report))
    if report.rules:
        hidden = ", ".join(f"{name} {count}" for name, count in report.rules.items())
        console.print(f"differences hidden by projection rules: {hidden}", style="dim")
    _show_provider(report, console)
    _show_waivers(report, console)
    for problem in report.problems:
        console.print(f"not loaded: {escape(printable(problem.message))}", style="red")
    _show_remarks(report, console)
    _show_inconclusive(report, console)
    _show_divergent(report, console)
    console.print(_verdict_line(report), style=f"bold {_STYLE[report.verdict]}")


def _show_provider(report: RunReport, console: Console) -> None:
    told = (
        ("provider findings inherited from the published core", report.inherited),
        ("provider findings of both sides, the published core not known", report.unsettled),
    )
    for words, counts in told:
        if counts:
            listed = ", ".join(f"{rule} {count}" for rule, count in counts.items())
            console.print(f"{words}: {escape(listed)}", style="dim")


def _show_waivers(report: RunReport, console: Console) -> None:
    used = [waiver for waiver in report.waivers if waiver.state == "used"]
    if used:
        listed = ", ".join(f"{waiver.id} {waiver.count}" for waiver in used)
        console.print(f"differences accepted by waivers: {escape(listed)}")
    unused = [waiver.id for waiver in report.waivers if waiver.state == "unused"]
    if unused:
        named, more = unused[:_NAMED], len(unused[_NAMED:])
        listed = ", ".join(named) + (f" and {more} more" if more else "")
        console.print(f"waivers unused here: {escape(listed)}", style="dim")
    for waiver in report.waivers:
        if waiver.state not in ("used", "unused"):
            count = f"{waiver.count} of at most {waiver.max_count}"
            console.print(f"waiver {escape(waiver.id)}: {waiver.state} ({count})", style="yellow")


def _table(report: RunReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("family")
    for heading in ("cases", "parity", "divergent", "inconclusive"):
        table.add_column(heading, justify="right")
    for row in report.families:
        counts = (row.total, row.parity, row.divergent, row.inconclusive)
        style = "red" if row.divergent else "yellow" if row.inconclusive else ""
        table.add_row(
            escape(row.family), *(str(count) if count else "·" for count in counts), style=style
        )
    return table


def _show_remarks(report: RunReport, console: Console) -> None:
    parity = (case for case in report.cases if case.verdict is CaseVerdict.PARITY)
    cases = [case for case in parity if case.remarks]
    for case in cases[:_LISTED]:
        remarks = printable("; ".join(case.remarks))
        console.print(f"remark: {escape(case.cassette)}: {escape(remarks)}", style="dim")
    if len(cases) > _LISTED:
        console.print(f"… and {len(cases) - _LISTED} more cases with remarks", style="dim")


def _show_inconclusive(report: RunReport, console: Console) -> None:
    cases = [case for case in report.cases if case.verdict is CaseVerdict.INCONCLUSIVE]
    for case in cases[:_LISTED]:
        reasons = "; ".join(explain(case, report.control, report.candidate))
        console.print(f"inconclusive: {escape(case.cassette)}: {escape(reasons)}", style="yellow")
    if len(cases) > _LISTED:
        console.print(f"… and {len(cases) - _LISTED} more inconclusive cases", style="yellow")


def _show_divergent(report: RunReport, console: Console) -> None:
    cases = [case for case in report.cases if case.verdict is CaseVerdict.DIVERGENT]
    first = report.first_divergent
    if first is None:
        return
    console.print(f"first divergence: {escape(first.cassette)}", style="red")
    for line in explain(first, report.control, report.candidate):
        console.print(f"  {escape(line)}")
    console.print(f"  reproduce: {escape(report.reproduce(first))}")
    others = [case for case in cases if case is not first]
    for case in others[:_LISTED]:
        lines = explain(case, report.control, report.candidate)
        console.print(f"also divergent: {escape(case.cassette)}: {escape(lines[0])}", style="red")
    if len(others) > _LISTED:
        console.print(f"… and {len(others) - _LISTED} more divergent cases", style="red")


def _verdict_line(report: RunReport) -> str:
    count = len(report.cases)
    sides = f"{report.control} and {report.candidate}"
    words = f"{report.verdict.value}: {sides} over {count} case{'' if count == 1 else 's'}"
    if report.interrupted:
        words += f" (interrupted: {count} of {report.planned} judged, partial report)"
    elif report.partial:
        words += f" ({count} of {report.planned} judged, partial report)"
    return escape(words)
