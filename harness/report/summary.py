"""The report as Markdown: for the summary of a GitHub step, and for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.html_charts import cost_shape, grid
from harness.report.listening import ReportFile
from harness.report.markdown import cell, code, fenced, said, table
from harness.report.model import Finding, RunReport
from harness.report.words import (
    behaviours,
    changed_near,
    channels,
    counts,
    headline,
    in_short,
    look_in,
    reasons,
)
from harness.triage.blame import blame

__all__ = ["MOST_BYTES", "summary_listener", "summary_report"]

MOST_BYTES: Final = 900_000
"""GitHub refuses a summary of more than 1 MiB, and shows none of it then."""
_FINDINGS: Final = 20
_LISTED: Final = 20
_NAMED: Final = 10
_MARK: Final = {
    CaseVerdict.PARITY: "✅",
    CaseVerdict.DIVERGENT: "❌",
    CaseVerdict.INCONCLUSIVE: "❔",
}


def summary_report(report: RunReport) -> str:
    """The page, with a final newline and of at most `MOST_BYTES`; what is too much is counted."""
    blocks, size, left = [], 0, 0
    for block in _blocks(report):
        size += len(block.encode("utf-8", "replace")) + 2
        if size > MOST_BYTES:
            left += 1
        else:
            blocks.append(block)
    if left:
        blocks.append(f"… and {left} more parts left out, as the summary is too long.")
    return "\n\n".join(blocks).encode("utf-8", "replace").decode() + "\n"


def _blocks(report: RunReport) -> Iterator[str]:
    """Most wanted first. Each can be left out without hurting the others."""
    yield f"## {_MARK[report.verdict]} {said(headline(report))}"
    whose = blame(report)
    if whose is not None:
        yield f"**{said(whose.line)}**"
    facts = [counts(report), behaviours(report)]
    yield said("; ".join(filter(None, facts)))
    if lines := channels(report):
        yield fenced(lines)
    if report.since is not None:
        yield fenced(report.since.lines())
    if report.problems:
        lines = [problem.message for problem in report.problems[:_LISTED]]
        yield f"### Not loaded\n\n{fenced(_and_more(lines, len(report.problems)))}"
    findings = report.findings
    for number, finding in enumerate(findings[:_FINDINGS], 1):
        yield _finding(report, finding, number)
    if len(findings) > _FINDINGS:
        yield f"… and {len(findings) - _FINDINGS} more kinds of divergence."
    unsure = [case for case in report.cases if case.verdict is CaseVerdict.INCONCLUSIVE]
    if unsure:
        yield f"### Inconclusive\n\n{fenced(_and_more(_reasons(report, unsure), len(unsure)))}"
    if report.cases:
        yield f"### Cases by class and phase\n\n{_grid(report)}"
    if report.waivers:
        yield f"### Waivers\n\n{_waivers(report)}"
    cost = cost_shape(report.cases)
    if cost:
        sides = (cell(report.control), cell(report.candidate))
        rows = ([row["name"], str(row["control"]), str(row["candidate"])] for row in cost)
        yield f"### Cost\n\n{table(['over all cases', *sides], rows)}"


def _finding(report: RunReport, finding: Finding, number: int) -> str:
    cases = finding.cluster.cases
    alike = [code(name) for name in cases if name != finding.case.cassette]
    named = ", ".join(_and_more(alike[:_NAMED], len(alike)))
    package = look_in(report, finding.case)
    parts = [
        f"### {number}. {code(finding.case.cassette)}",
        *([f"{len(alike)} more with the same difference: {named}"] if alike else []),
        fenced([*reasons(report, finding.case), *changed_near(report, finding.case)]),
        *([f"Look in {said(package)}. Reproduce with"] if package else ["Reproduce with"]),
        fenced([finding.reproduce, *report.bisecting(finding.case).lines()]),
    ]
    return "\n\n".join(parts)


def _reasons(report: RunReport, cases: Sequence[CaseResult]) -> list[str]:
    return [f"{case.cassette}: {in_short(report, case)}" for case in cases[:_LISTED]]


def _and_more(lines: Sequence[str], total: int) -> list[str]:
    more = total - len(lines)
    return [*lines, f"… and {more} more"] if more else list(lines)


def _grid(report: RunReport) -> str:
    shape = grid(report.cases, report.contract)
    rows = (
        [cell(row["name"]), *(_cell(counted) for counted in row["cells"])] for row in shape["rows"]
    )
    return table(["class", *(cell(phase["id"]) for phase in shape["phases"])], rows)


def _cell(counted: dict[str, int] | None) -> str:
    if counted is None:
        return "·"
    bad = [f"{counted[name]} {name}" for name in ("divergent", "inconclusive") if counted[name]]
    return f"{counted['cases']}" + (f" ({', '.join(bad)})" if bad else "")


def _waivers(report: RunReport) -> str:
    rows = (
        [
            cell(waiver.id),
            waiver.state,
            f"{waiver.count} of {waiver.max_count}",
            "·" if waiver.days_left is None else str(waiver.days_left),
        ]
        for waiver in report.waivers
    )
    return table(["waiver", "state", "covers", "days left"], rows)


summary_listener = partial(ReportFile, "--summary", summary_report)
