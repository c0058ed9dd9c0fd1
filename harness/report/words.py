"""What the text writers say alike: how a run came out, and why a case is not parity."""

from __future__ import annotations

from collections import Counter
from typing import Final

from harness.canonical import printable
from harness.explain import explain, explained
from harness.explain.model import Explanation
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.model import Finding, RunReport
from harness.triage.clusters import package_of
from services.redaction import redacted

__all__ = [
    "behaviours",
    "counts",
    "explanation",
    "headline",
    "in_short",
    "inert",
    "look_in",
    "reasons",
]

_NAMED: Final = 8


def explanation(report: RunReport, case: CaseResult) -> Explanation:
    """Why a case is not parity."""
    return explained(case, report.control, report.candidate, report.contract)


def reasons(report: RunReport, case: CaseResult) -> list[str]:
    """The same as lines, printable and without secrets; the first says where the cases differ."""
    lines = explain(case, report.control, report.candidate, report.contract)
    return [printable(redacted(line)) for line in lines]


def in_short(report: RunReport, case: CaseResult) -> str:
    """The same on one line: of a difference where it is, of a doubt all of it."""
    lines = reasons(report, case)
    return "; ".join(lines[:1] if case.verdict is CaseVerdict.DIVERGENT else lines)


def headline(report: RunReport) -> str:
    """The verdict in one line: `divergent: legacy and adk over 3 cases`."""
    count = len(report.cases)
    sides = f"{report.control} and {report.candidate}"
    words = f"{report.verdict.value}: {sides} over {count} case{'' if count == 1 else 's'}"
    if report.interrupted:
        words += f" (interrupted: {count} of {report.planned} judged, partial report)"
    elif report.stopped:
        after = f"stopped after {report.stopped} divergent"
        words += f" ({after}: {count} of {report.planned} judged, partial report)"
    elif report.partial:
        words += f" ({count} of {report.planned} judged, partial report)"
    if report.problems:
        words += f" ({len(report.problems)} more not loaded)"
    return printable(redacted(words))


def counts(report: RunReport) -> str:
    """How many cases came out how: `2 parity, 1 divergent`."""
    found = Counter(case.verdict for case in report.cases)
    words = [f"{found[verdict]} {verdict.value}" for verdict in CaseVerdict if found[verdict]]
    if report.problems:
        words.append(f"{len(report.problems)} not loaded")
    return ", ".join(words) or "no case"


def behaviours(report: RunReport, *, named: bool = True) -> str:
    """The contract's behaviours that the cases declare; empty where they declare none.

    `named` adds the ids of the first.
    """
    touched = report.behaviours
    if not touched:
        return ""
    total = len(report.contract.behaviours)
    known = f" of the contract's {total}" if total else ""
    words = f"{len(touched)}{known} behaviours touched"
    ids = " ".join(touched[:_NAMED]) + (" …" if len(touched) > _NAMED else "")
    return printable(f"{words}: {ids}" if named else words)


def look_in(report: RunReport, finding: Finding) -> str:
    """The folder of the code to look at first; empty where the seam is not known."""
    candidate = finding.case.runtimes[1] or report.candidate
    return printable(package_of(explanation(report, finding.case).seam, candidate))


def inert(line: str) -> str:
    """`line`, printable, so that no build server takes it for a command to itself.

    GitHub's runner acts upon lines of a log that begin with `::`, and upon `##[` anywhere.
    """
    shown = printable(line).replace("##[", "## [")
    return f"\\{shown}" if shown.lstrip().startswith("::") else shown
