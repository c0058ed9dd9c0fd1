"""The report as one JSON document, for programs."""

from __future__ import annotations

import json

from harness.parity.explain import explain
from harness.report.model import RunReport, exit_code
from services.wire import JsonObject

__all__ = ["FORMAT", "json_report", "report_document"]

FORMAT = 1
"""Version of the document; goes up when a key changes its meaning or goes away."""


def json_report(report: RunReport) -> str:
    """The document as text with a final newline."""
    return json.dumps(report_document(report), indent=1) + "\n"


def report_document(report: RunReport) -> JsonObject:
    """The document: verdict, sums by family, every case with its differences and explanation."""
    return {
        "report": FORMAT,
        "verdict": report.verdict.value,
        "exitCode": int(exit_code(report)),
        "partial": report.partial,
        "interrupted": report.interrupted,
        "control": report.control,
        "candidate": report.candidate,
        "versions": dict(report.versions),
        "planned": report.planned,
        "families": [
            {
                "family": row.family,
                "parity": row.parity,
                "divergent": row.divergent,
                "inconclusive": row.inconclusive,
            }
            for row in report.families
        ],
        "rules": dict(report.rules),
        "inherited": dict(report.inherited),
        "unsettled": dict(report.unsettled),
        "waivers": [
            {"id": w.id, "state": w.state, "count": w.count, "maxCount": w.max_count}
            for w in report.waivers
        ],
        "problems": [
            {"file": problem.file, "message": problem.message} for problem in report.problems
        ],
        "cases": [
            {
                **case.to_json(),
                "explanation": explain(case, report.control, report.candidate),
                "reproduce": report.reproduce(case),
            }
            for case in report.cases
        ],
    }
