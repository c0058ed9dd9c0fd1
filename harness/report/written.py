"""The files that a report can be written to, one row per option of `run`, `merge` and `report`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from harness.errors import UsageError
from harness.report.annotations import annotations_report
from harness.report.html import html_report
from harness.report.json_report import json_report
from harness.report.junit import junit_report
from harness.report.model import RunReport
from harness.report.past import with_past_runs
from harness.report.remembered import remember_page
from harness.report.summary import summary_report
from harness.whole_file import write_asked_for

__all__ = ["GITHUB", "STEP_SUMMARY", "WRITERS", "Writer", "write_report"]

GITHUB: Final = "github"
"""The option for GitHub: annotations on standard output, a summary of the step."""
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The variable that names the file to which a step adds its summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """One option that writes the report somewhere."""

    option: str
    """As on the command line: `--json`."""
    help: str
    text: Callable[[RunReport], str]
    """Renders the whole text."""
    index: str | None = None
    """The option names a folder, and this is the file in it; `None`: it names the file."""
    prepared: Callable[[RunReport, Path], RunReport] | None = None
    """Given the folder, adds to the report what the text needs besides."""
    remembered: bool = False
    """`parity show-report` opens the file."""

    @property
    def parameter(self) -> str:
        """The name under which the option's value is handed over: `json_file`."""
        kind = "file" if self.index is None else "folder"
        return f"{self.option.removeprefix('--').replace('-', '_')}_{kind}"

    def file(self, place: Path) -> Path:
        """The file that is written where the option says `place`."""
        return place if self.index is None else place / self.index

    def write(self, report: RunReport, place: Path) -> Path:
        """Write the report, whole or not at all, and return the file.

        Raises:
            UsageError: it cannot be written after all.
        """
        if self.prepared is not None:
            report = self.prepared(report, place)
        text = self.text(report)
        file = self.file(place)
        # A folder that was unpacked from somewhere may hold a link of this name.
        if self.index is not None and _leads_out(file, place):
            mend = f"delete it, or choose another place with {self.option}"
            raise UsageError(f"{file} leads out of the folder", mend)
        write_asked_for(file, text, self.option)
        if self.remembered and report.header is not None and report.header.started_at:
            remember_page(file, report.header.started_at)
        return file


def _leads_out(file: Path, folder: Path) -> bool:
    try:
        return not file.resolve().is_relative_to(folder.resolve())
    except RuntimeError:  # links in a circle
        return True


WRITERS: Final = (
    Writer(
        option="--html",
        help="Write the report as index.html in this folder.",
        text=html_report,
        index="index.html",
        prepared=with_past_runs,
        remembered=True,
    ),
    Writer(
        option="--json",
        help="Write the report as JSON.",
        text=json_report,
    ),
    Writer(
        option="--junit",
        help="Write the report as JUnit XML.",
        text=junit_report,
    ),
    Writer(
        option="--summary",
        help="Write the report as Markdown, for a comment on a pull request.",
        text=summary_report,
    ),
)
"""In the order in which the files are named at the end."""


def write_report(report: RunReport, places: Mapping[str, Path]) -> list[Path]:
    """Write the report wherever it was asked for; `places` by the options' parameter names.

    Under `GITHUB` stands the file of the step's summary, to which the report is added.

    Raises:
        UsageError: a file cannot be written.
    """
    if GITHUB in places:
        _write_to_github(report, places[GITHUB])
    return [
        writer.write(report, places[writer.parameter])
        for writer in WRITERS
        if writer.parameter in places
    ]


def _write_to_github(report: RunReport, summary: Path) -> None:
    click.echo(annotations_report(report), nl=False)
    try:
        with summary.open("a", encoding="utf-8") as stream:
            stream.write(summary_report(report))
    except OSError as error:
        problem = f"{STEP_SUMMARY}: {summary} cannot be written: {error.strerror}"
        raise UsageError(problem, "leave --github out, or set it to a file") from error
