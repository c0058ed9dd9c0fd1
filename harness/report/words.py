"""Text that several reports share: the result of a run, and why a case is not parity."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from typing import Final

from harness.canonical import printable
from harness.explain import explain, explained
from harness.explain.model import Explanation
from harness.parity.divergence import ChannelName
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.model import Finding, RunReport
from harness.triage.leads import changed_lines
from harness.triage.places import places_of
from harness.triage.signs import UNTRUSTED, sign_of
from harness.wording import counted, listed
from services.redaction import redacted

__all__ = [
    "behaviours",
    "changed_near",
    "channels",
    "counts",
    "explanation",
    "finding_lines",
    "headline",
    "in_short",
    "inert",
    "look_in",
    "reasons",
    "untrusted",
    "untrusted_cases",
]

_NAMED: Final = 8
_LOOKED_IN: Final = 4
"""Files that a reader is sent to."""
_NUMBERED: Final = re.compile(r"[2-9]\. |\d\d\. ")
"""Of an explanation's lines, those of the sentences behind the first."""


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
    words = f"{report.verdict.value}: {sides} over {counted(count, 'case')}"
    if len(compared := _compared(report)) < len(ChannelName):
        words += f", by {len(compared)} of {len(ChannelName)} channels"
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


def channels(report: RunReport) -> list[str]:
    """The channels that were compared, and why others were not; nothing where all were.

    One line each: what was compared, then each reason with its channels.
    """
    reasons: dict[str, dict[str, None]] = {}
    for case in report.cases:
        for name, reason in case.left_out.items():
            reasons.setdefault(reason, {})[name] = None
    if not reasons:
        return []
    lines = [f"compared: {', '.join(_compared(report))}"]
    lines += [f"not compared: {', '.join(names)}: {why}" for why, names in reasons.items()]
    return [printable(redacted(line)) for line in lines]


def _compared(report: RunReport) -> list[str]:
    """The channels that every case compared."""
    out = {name for case in report.cases for name in case.left_out}
    return [name.value for name in ChannelName if name.value not in out]


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


def untrusted_cases(report: RunReport) -> list[CaseResult]:
    """The cases that decide nothing because their cassettes are not trusted."""
    undecided = (case for case in report.cases if case.verdict is CaseVerdict.INCONCLUSIVE)
    return [case for case in undecided if sign_of(case) is UNTRUSTED]


def untrusted(report: RunReport, command: str = "") -> str:
    """Which cassettes are not trusted, and the command that trusts them; empty without any.

    Without `command` that is the `parity run` of the report, with `--trust`.
    """
    names = [case.cassette for case in untrusted_cases(report)]
    if not names:
        return ""
    what = f"{counted(len(names), 'case')} ({listed(names)})"
    typed = command or shlex.join(["parity", "run", *_again(report), "--trust"])
    line = f"not trusted: {what}; if you trust the cassettes: {typed}"
    return printable(redacted(line))


def _again(report: RunReport) -> list[str]:
    """The words that choose the same cases between the same sides, but for `--shard`."""
    header = report.header
    words = [] if header is None else list(header.paths)
    if header is not None and header.expr is not None:
        words += ["-k", header.expr]
    if header is not None and header.phase is not None:
        words += ["--phase", header.phase]
    for option, side, usual in (
        ("--control", report.control, "legacy"),
        ("--candidate", report.candidate, "adk"),
    ):
        words += [option, side] if side != usual else []
    return words


def look_in(report: RunReport, case: CaseResult) -> str:
    """The files of the code to look at first; empty where the seam is not known."""
    return printable(", ".join(_places(report, case)[:_LOOKED_IN]))


def finding_lines(report: RunReport, finding: Finding, *, whole: bool = True) -> list[str]:
    """A sort of divergence in lines: what happened, at which seam, and what to do about it.

    Without `whole` the sentences about what each side did are left out.
    """
    every = reasons(report, finding.case)
    lines = every if whole else [line for line in every if not _NUMBERED.match(line)]
    if places := look_in(report, finding.case):
        lines.append(f"look in: {places}")
    lines += changed_near(report, finding.case)
    lines.append(f"reproduce: {finding.reproduce}")
    return lines + report.bisecting(finding.case).lines()


def changed_near(report: RunReport, case: CaseResult) -> list[str]:
    """The changed files, those nearest to the case's seam first, in a line; or no line."""
    candidate = case.runtimes[1] or report.candidate
    return changed_lines(report.leads, _places(report, case), candidate)


def _places(report: RunReport, case: CaseResult) -> tuple[str, ...]:
    control, candidate = case.runtimes
    seam = explanation(report, case).seam
    return places_of(seam, control or report.control, candidate or report.candidate)


def inert(line: str) -> str:
    """`line`, printable, so that no build server takes it for a command to itself.

    GitHub's runner acts upon lines of a log that begin with `::`, and upon `##[` anywhere.
    """
    shown = printable(line).replace("##[", "## [")
    return f"\\{shown}" if shown.lstrip().startswith("::") else shown
