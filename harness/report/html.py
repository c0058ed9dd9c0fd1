"""The report as one HTML file that needs nothing else: no script, no network, no second file."""

from __future__ import annotations

from importlib import resources

from jinja2 import Environment, StrictUndefined

from harness.canonical import printable
from harness.parity.explain import explain
from harness.report.model import RunReport

__all__ = ["html_report"]


def html_report(report: RunReport) -> str:
    """The page. Everything that came from a cassette is escaped."""
    source = resources.files("harness.report").joinpath("page.html.j2").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    explanations = {
        case.cassette: explain(case, report.control, report.candidate) for case in report.cases
    }
    environment.filters["printable"] = printable
    page = environment.from_string(source)
    return page.render(report=report, explanations=explanations) + "\n"
