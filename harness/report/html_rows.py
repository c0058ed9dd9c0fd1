"""The page's list of all cases, and the details of those at parity, which are only there to open.

A run has a thousand cases at parity. What they show is kept small: no text of the cassette, and
together no more than `MOST_CHARACTERS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.parity.verdict import CaseResult
from harness.report.html_case import case_details, deflated, is_shown, virtual_ms
from harness.report.html_cassettes import CassetteText, cassette_text
from harness.report.html_charts import classes_of
from harness.report.model import RunReport
from services.redaction import redacted_value
from services.wire import JsonObject

__all__ = ["MOST_CHARACTERS", "case_rows", "pack_agreeing", "packed_case"]

MOST_CHARACTERS: Final = 6_000_000
"""Of the packed details of all cases at parity."""


def case_rows(report: RunReport, anchors: Mapping[str, str]) -> list[JsonObject]:
    """A row for each case, by name.

    Args:
        report: The run.
        anchors: The cases that have a card of their own on the page, each to its anchor.
    """
    return [
        {
            "anchor": f"row-{number}",
            "name": case.cassette,
            "verdict": case.verdict.value,
            "phase": case.phase,
            "classes": classes_of(case, report.contract),
            "contract": case.contract,
            "took": report.took_ms.get(case.cassette),
            "virtual": virtual_ms(case),
            "remarks": case.remarks,
            "card": anchors.get(case.cassette),
        }
        for number, case in enumerate(report.cases, 1)
    ]


def pack_agreeing(report: RunReport, rows: Sequence[JsonObject]) -> None:
    """Put the packed details into the rows of cases at parity, as long as there is room."""
    left = MOST_CHARACTERS
    for case, row in zip(report.cases, rows, strict=True):
        row["packed"] = None
        if is_shown(case) or left <= 0:
            continue
        text = cassette_text(case.cassette, report.files.get(case.cassette))
        note = CassetteText(text="", note=text.note) if text is not None else None
        packed = _packed(report, case, note)
        left -= len(packed)
        row["packed"] = packed if left >= 0 else None


def packed_case(report: RunReport, case: CaseResult) -> str:
    """The details of one case with its cassette's text, without secrets, as the page keeps them."""
    return _packed(report, case, cassette_text(case.cassette, report.files.get(case.cassette)))


def _packed(report: RunReport, case: CaseResult, text: CassetteText | None) -> str:
    details = case_details(case, report.file(case), text)
    details["command"] = report.reproduce(case)
    return deflated(redacted_value(details))
