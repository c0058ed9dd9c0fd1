"""The list of report pages that were written from this folder; a failure to write it is ignored."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.report.kept import JOURNALS
from harness.whole_file import write_whole
from services.regular_files import read_regular

__all__ = ["remember_page", "remembered_pages"]

_FILE: Final = "pages.json"
_MOST: Final = 20
_MOST_BYTES: Final = 256 * 1024


def remember_page(page: Path, started_at: str, folder: Path = JOURNALS) -> None:
    """Write down that `page` shows the run that began at `started_at`, and no other any more."""
    place = str(page.resolve())
    kept = {run: each for run, each in _read(folder).items() if each != place}
    kept.pop(started_at, None)
    kept[started_at] = place
    text = json.dumps(dict([*kept.items()][-_MOST:]), indent=1)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n")
        write_whole(folder / _FILE, text + "\n")


def remembered_pages(folder: Path = JOURNALS) -> dict[str, Path]:
    """The begin of a run to the page that shows it, the page that was written last at the end.

    Pages that are gone are left out.
    """
    found = {run: Path(page) for run, page in _read(folder).items()}
    return {run: page for run, page in found.items() if page.is_file()}


def _read(folder: Path) -> dict[str, str]:
    try:
        kept = json.loads(read_regular(folder / _FILE, _MOST_BYTES))
    except (OSError, ValueError):  # none was written yet, or it is another program's file
        return {}
    if not isinstance(kept, dict):
        return {}
    return {run: page for run, page in kept.items() if isinstance(page, str)}
