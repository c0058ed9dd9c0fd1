"""GitHub's annotations: workflow commands on standard output, one for each sort of divergence.

A runner takes lines that begin with `::` for commands to itself; what comes from a case is escaped
as its documentation lays down, so that it stays inside of ours.
Source: "Workflow commands for GitHub Actions", and the runner's `ActionCommand`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import click

from harness.canonical import printable
from harness.errors import UsageError
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.listening import ReportListener, Settled
from harness.report.model import Finding, RunReport
from harness.report.summary import summary_report
from harness.report.words import reasons
from harness.whole_file import writable_file
from services.redaction import redacted

__all__ = ["STEP_SUMMARY", "GitHubListener", "annotations_report"]

STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The variable that names the file to which a step adds its summary."""
_MOST: Final = 10
"""Of each level, all that GitHub shows of a step."""
_LINES: Final = 12
_LONGEST: Final = 400
_ESCAPED: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES: Final = {**_ESCAPED, ":": "%3A", ",": "%2C"}


class GitHubListener(ReportListener):
    """Prints the annotations, and adds the report to the summary of the step."""

    def __init__(self, given: bool, settled: Settled) -> None:
        """Make sure that the summary can be written, where the step has one.

        Raises:
            UsageError: it cannot.
        """
        super().__init__(settled)
        summary = os.environ.get(STEP_SUMMARY)
        if summary:
            writable_file(Path(summary), STEP_SUMMARY)
        self._summary = Path(summary or os.devnull)

    def show(self, report: RunReport) -> None:
        """Print and add."""
        click.echo(annotations_report(report), nl=False)
        try:
            with self._summary.open("a", encoding="utf-8") as stream:
                stream.write(summary_report(report))
        except OSError as error:
            problem = f"{STEP_SUMMARY}: {self._summary} cannot be written: {error.strerror}"
            raise UsageError(problem, "leave --github out, or set it to a file") from error


def annotations_report(report: RunReport) -> str:
    """The lines, none at all for a run that is parity; at most ten errors and ten warnings."""
    errors = [_of_problem(each.file, each.message) for each in report.problems]
    errors += [_of_finding(report, each) for each in report.findings]
    unsure = [case for case in report.cases if case.verdict is CaseVerdict.INCONCLUSIVE]
    warnings = [_of_undecided(report, case) for case in unsure]
    warnings += _of_waivers(report)
    lines = (*_bounded(errors, "error"), *_bounded(warnings, "warning"))
    return "".join(f"{line}\n" for line in lines)


def _bounded(commands: Sequence[str], level: str) -> Iterator[str]:
    if len(commands) <= _MOST:
        yield from commands
        return
    yield from commands[: _MOST - 1]
    more = len(commands) - _MOST + 1
    yield _command(level, None, "parity", [f"and {more} more; see the summary of this step"])


def _of_finding(report: RunReport, finding: Finding) -> str:
    alike = f" (and {finding.alike} alike)" if finding.alike else ""
    title = f"parity: {finding.case.cassette} diverges{alike}"
    lines = [*reasons(report, finding.case), f"reproduce: {finding.reproduce}"]
    return _command("error", report.file(finding.case), title, lines)


def _of_problem(file: str, message: str) -> str:
    return _command("error", file, "parity: not loaded", [message])


def _of_undecided(report: RunReport, case: CaseResult) -> str:
    title = f"parity: {case.cassette} is inconclusive"
    return _command("warning", report.file(case), title, reasons(report, case))


def _of_waivers(report: RunReport) -> Iterator[str]:
    for waiver in report.waivers:
        if waiver.warning is not None:
            yield _command("warning", None, "parity: waivers", [waiver.warning])
        if waiver.state in ("expired", "exceeded"):
            words = f"waiver {waiver.id}: {waiver.state}, {waiver.count} of {waiver.max_count}"
            yield _command("warning", None, "parity: waivers", [words])


def _command(level: str, file: str | None, title: str, lines: Iterable[str]) -> str:
    place = _place(file)
    properties = {**({} if place is None else {"file": place, "line": "1"}), "title": title}
    given = ",".join(
        f"{name}={_escaped(printable(redacted(value)), _IN_PROPERTIES)}"
        for name, value in properties.items()
    )
    shown = [printable(redacted(line))[:_LONGEST] for line in lines][:_LINES]
    return f"::{level} {given}::{_escaped(chr(10).join(shown), _ESCAPED)}"


def _place(file: str | None) -> str | None:
    """The file as GitHub wants it, from the checkout's root; `None` for one that is not below."""
    if file is None or Path(file).is_absolute() or ".." in PurePosixPath(file).parts:
        return None
    return Path(redacted(file)).as_posix()  # first: a path has no double slashes any more


def _escaped(text: str, codes: dict[str, str]) -> str:
    return re.sub("[%\r\n:,]", lambda match: codes.get(match[0], match[0]), text)
