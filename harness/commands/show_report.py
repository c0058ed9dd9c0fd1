"""`parity show-report`: the page of the last report, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Final

import click

from harness.errors import UsageError
from harness.report.kept import kept_journals
from harness.report.remembered import remembered_pages

__all__ = ["show_report"]

_PAGE: Final = "index.html"


def show_report(folder: Path | None, only_print: bool) -> None:
    """Run `parity show-report`."""
    page = _last_page() if folder is None else _page_in(folder)
    click.echo(str(page))
    if only_print:
        return
    if not webbrowser.open(page.as_uri()):
        click.echo("no browser could be opened; open the file above", err=True)


def _page_in(folder: Path) -> Path:
    """The page in a folder, or the page itself, if that is named.

    Raises:
        UsageError: there is none.
    """
    page = folder if folder.is_file() else folder / _PAGE
    if not page.is_file():
        mend = f"make one of the last run with `parity report --html {folder}`"
        raise UsageError(f"no report in {folder}", mend)
    return page.resolve()


def _last_page() -> Path:
    """The page that was written last.

    Raises:
        UsageError: none was, or all are gone.
    """
    pages = [*remembered_pages().values()]
    if pages:
        return pages[-1]
    if kept_journals():
        mend = "make one of the last run with `parity report --html parity-report`"
    else:
        mend = "make one with `parity run --html parity-report`"
    raise UsageError("no report page was written from this folder", mend)
