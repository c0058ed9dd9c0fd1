"""The report of a run on standard output.

It begins with the probable cause of a red run, the verdict, and the command that reproduces the
first difference. It ends with the verdict, for readers of a log. Colour needs a terminal, and is
off under `NO_COLOR`.
"""

from __future__ import annotations

from typing import Final, TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.parity.verdict import CaseVerdict
from harness.report.listening import ReportListener, Settled
from harness.report.model import Finding, RunReport
from harness.report.words import (
    behaviours,
    channels,
    counts,
    finding_lines,
    headline,
    in_short,
    inert,
    untrusted,
    untrusted_cases,
)
from harness.screen import Screen
from harness.triage.blame import blame
from harness.wording import counted, listed
from services.redaction import without_credentials

__all__ = ["STYLE", "TerminalListener", "show"]

STYLE: Final = {
    CaseVerdict.PARITY: "green",
    CaseVerdict.DIVERGENT: "red",
    CaseVerdict.INCONCLUSIVE: "yellow",
}
_MAY_DIFFER: Final = " allowed by projection rules, such as ids and stack traces"
_INHERITED: Final = ": the API would object, but the published core sends the same requests"
_UNSETTLED: Final = (
    ": the API would object, and it is not known whether the published core sends the same requests"
)
_LISTED: Final = 10
_NAMED: Final = 5


class TerminalListener(ReportListener):
    """Writes the report to `stream` as `show` does."""

    def __init__(self, stream: TextIO, settled: Settled, *, verbose: bool) -> None:
        super().__init__(settled)
        self._stream = stream
        self._verbose = verbose

    def show(self, report: RunReport) -> None:
        """Write the report."""
        show(report, self._stream, verbose=self._verbose)


def show(report: RunReport, stream: TextIO, *, verbose: bool = False) -> None:
    """Write the whole report, most wanted first; keys and tokens masked, commands as they are.

    With `verbose` it lists what the report rests on otherwise in counts: projection rules, findings
    about requests, unused waivers, remarks, behaviours.
    """
    console = Screen(stream)
    _show_head(report, console, verbose)
    _show_findings(report, console)
    if report.cases:
        console.print(_table(report))
    for line in channels(report):
        console.print(_safe(line), style="dim")
    _show_hidden(report, console, verbose)
    _show_waivers(report, console, verbose)
    for problem in report.problems:
        console.print(_safe(f"not loaded: {problem.message}"), style="red")
    _show_remarks(report, console, verbose)
    _show_inconclusive(report, console)
    _show_slowest(report, console)
    console.print(_safe(headline(report)), style=f"bold {STYLE[report.verdict]}")


def _safe(text: str) -> str:
    """`text` on one line, inert for terminals, build servers and for rich."""
    return escape(inert(without_credentials(text)))


def _show_head(report: RunReport, console: Console, verbose: bool) -> None:
    whose = blame(report)
    if whose is not None:
        console.print(_safe(whose.line), style="bold")
    of = report.planned + len(report.problems)
    came_to = f"{report.verdict.value}: {counts(report)} of {of}"
    facts = [came_to, *filter(None, [behaviours(report, named=verbose)])]
    console.print(_safe("; ".join(facts)), style=f"bold {STYLE[report.verdict]}")
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


def _show_hidden(report: RunReport, console: Console, verbose: bool) -> None:
    """What does not count, and why not; with `verbose` by rule."""
    known = (
        (report.rules, "difference", _MAY_DIFFER),
        (report.inherited, "finding of provider rules", _INHERITED),
        (report.unsettled, "finding of provider rules on both sides", _UNSETTLED),
    )
    for found, what, why in known:
        if not found:
            continue
        count = sum(found.values())
        rules = ", ".join(f"{rule} {each}" for rule, each in found.items())
        end = f": {rules}" if verbose else " (-v lists them)"
        console.print(_safe(f"not counted: {counted(count, what)}{why}{end}"), style="dim")


def _show_waivers(report: RunReport, console: Console, verbose: bool) -> None:
    used = [waiver for waiver in report.waivers if waiver.state == "used"]
    if used:
        counts = ", ".join(f"{waiver.id} {waiver.count}" for waiver in used)
        console.print(_safe(f"differences accepted by waivers: {counts}"))
    unused = [waiver.id for waiver in report.waivers if waiver.state == "unused"]
    if unused and verbose:
        console.print(_safe(f"waivers not used in this run: {listed(unused)}"), style="dim")
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


def _show_slowest(report: RunReport, console: Console) -> None:
    if not report.slowest:
        return
    total_s = sum(report.took_ms.values()) / 1000
    words = f"slowest {len(report.slowest)} of {len(report.took_ms)} cases, {total_s:.1f} s in all:"
    console.print(words)
    for name, took_ms in report.slowest:
        console.print(_safe(f"{took_ms / 1000:8.2f} s  {name}"))


def _show_remarks(report: RunReport, console: Console, verbose: bool) -> None:
    parity = (case for case in report.cases if case.verdict is CaseVerdict.PARITY)
    cases = [case for case in parity if case.remarks]
    if cases and not verbose:
        words = f"remarks on {counted(len(cases), 'case')} at parity (-v lists them)"
        console.print(words, style="dim")
        return
    for case in cases[:_LISTED]:
        remarks = "; ".join(case.remarks)
        console.print(_safe(f"remark: {case.cassette}: {remarks}"), style="dim")
    if len(cases) > _LISTED:
        console.print(f"… and {len(cases) - _LISTED} more cases with remarks", style="dim")


def _show_inconclusive(report: RunReport, console: Console) -> None:
    if line := untrusted(report):
        console.print(_safe(line), style="yellow")
    known = {case.cassette for case in untrusted_cases(report)}
    undecided = (case for case in report.cases if case.verdict is CaseVerdict.INCONCLUSIVE)
    cases = [case for case in undecided if case.cassette not in known]
    for case in cases[:_LISTED]:
        line = f"inconclusive: {case.cassette}: {in_short(report, case)}"
        console.print(_safe(line), style="yellow")
    if len(cases) > _LISTED:
        console.print(f"… and {len(cases) - _LISTED} more inconclusive cases", style="yellow")
