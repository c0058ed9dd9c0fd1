"""The report as one HTML file that needs nothing else: no network, no second file.

Its style and script stand in it, allowed by their digests alone: whatever a cassette holds, the
browser runs nothing but what is in `page/`.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from harness.canonical import printable
from harness.errors import UsageError
from harness.report.html_data import page_data
from harness.report.listening import ReportFile, Settled
from harness.report.model import RunReport
from harness.report.past import with_past_runs
from harness.report.remembered import remember_page
from harness.whole_file import writable_folder

__all__ = ["SCRIPTS", "HtmlListener", "html_report", "page_style", "policy", "template"]

SCRIPTS: Final = (
    "dom.js",
    "inflate.js",
    "unpack.js",
    "text_diff.js",
    "fields.js",
    "timeline.js",
    "case.js",
    "copy.js",
    "findings.js",
    "rows.js",
    "keys.js",
    "main.js",
)
"""The page's script, in the order in which its parts stand."""


class HtmlListener(ReportFile):
    """Writes the page, with earlier runs, and remembers it for `parity show-report`."""

    def __init__(self, folder: Path, settled: Settled) -> None:
        self.folder = folder
        writable_folder(folder, "--html")
        super().__init__("--html", html_report, folder / "index.html", settled)

    def show(self, report: RunReport) -> None:
        """Write the page, unless a link leads out of the folder, which may come from anywhere."""
        if _leads_out(self.file):
            mend = f"delete it, or choose another place with {self.option}"
            raise UsageError(f"{self.file} leads out of the folder", mend)
        super().show(with_past_runs(report, self.folder))
        if report.header is not None and report.header.started_at:
            remember_page(self.file, report.header.started_at)


def _leads_out(file: Path) -> bool:
    try:
        return not file.resolve().is_relative_to(file.parent.resolve())
    except RuntimeError:  # links in a circle
        return True


def html_report(report: RunReport) -> str:
    """The page."""
    style, script = page_style(), _script()
    return template("index.html.j2").render(
        page=page_data(report),
        style=Markup(style),  # noqa: S704 - ours, from page/
        script=Markup(script),  # noqa: S704 - likewise
        policy=policy(style, script),
    )


def policy(style: str, script: str | None = None) -> str:
    """The content security policy: nothing but this style and this script, and no way out."""
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'none'" if script is None else f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def page_style() -> str:
    """The style of every page, as it stands in it."""
    return "\n" + _part("style.css") + _part("gate.css")


@cache
def _script() -> str:
    parts = "\n".join(_part(name) for name in SCRIPTS)
    return f'\n(() => {{\n"use strict";\n\n{parts}}})();\n'


def _part(name: str) -> str:
    return resources.files(__package__).joinpath("page", name).read_text("utf-8")


@cache
def template(name: str) -> Template:
    """A template of `page/`; what it is given is shown as text."""
    environment = Environment(
        loader=FunctionLoader(_part),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["printable"] = printable
    return environment.get_template(name)
