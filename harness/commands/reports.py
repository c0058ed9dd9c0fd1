"""The files of a report, with what lies beside them: the answers of a gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.gate.page import gates_beside
from harness.report import written
from harness.report.model import RunReport

__all__ = ["write_report"]

_PAGE: Final = "html_folder"


def write_report(report: RunReport, places: Mapping[str, Path]) -> list[Path]:
    """Write the report wherever it was asked for; `places` as `report_places` returns them.

    A page shows the answers of a gate that lie in its folder, where `parity measure` leaves them.

    Raises:
        UsageError: a file cannot be written.
    """
    if _PAGE in places:
        components = {} if report.header is None else report.header.components
        gates = gates_beside(places[_PAGE], components)
        report = replace(report, gates=gates) if gates else report
    return written.write_report(report, places)
