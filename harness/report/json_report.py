"""The report as one JSON document, for programs. `docs/report-json.md` says what stands where."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Final

from harness.report.html_charts import cost_shape, grid
from harness.report.listening import ReportFile
from harness.report.model import Finding, RunReport, exit_code
from harness.report.words import changed_near, channels, explanation, look_in, reasons
from harness.triage.blame import blame
from services.redaction import redacted_value
from services.wire import JsonObject

__all__ = ["FORMAT", "json_listener", "json_report", "report_document"]

FORMAT: Final = 2
"""Version of the document; goes up when a key changes its meaning or goes away.

2: `findings`, `blame`, `grid`, `cost`, `behaviours`, `header`; `explanation` of a case is numbered.
"""


def json_report(report: RunReport) -> str:
    """The document as text with a final newline, ASCII only."""
    return json.dumps(report_document(report), indent=1) + "\n"


def report_document(report: RunReport) -> JsonObject:
    """The document: verdict, sums, findings, every case with its differences; without secrets."""
    whose = blame(report)
    document: JsonObject = {
        "report": FORMAT,
        "verdict": report.verdict.value,
        "exitCode": int(exit_code(report)),
        "partial": report.partial,
        "interrupted": report.interrupted,
        "control": report.control,
        "candidate": report.candidate,
        "versions": dict(report.versions),
        "header": _header(report),
        "planned": report.planned,
        "blame": None if whose is None else asdict(whose),
        "since": [] if report.since is None else report.since.lines(),
        "findings": [_finding(report, each) for each in report.findings],
        "behaviours": list(report.behaviours),
        "grid": grid(report.cases, report.contract),
        "cost": cost_shape(report.cases),
        "families": [asdict(row) for row in report.families],
        "channels": channels(report),
        "rules": dict(report.rules),
        "inherited": dict(report.inherited),
        "unsettled": dict(report.unsettled),
        "waivers": [
            {
                "id": w.id,
                "state": w.state,
                "count": w.count,
                "maxCount": w.max_count,
                "daysLeft": w.days_left,
            }
            for w in report.waivers
        ],
        "problems": [asdict(problem) for problem in report.problems],
        "cases": [
            {
                **case.to_json(),
                "explanation": reasons(report, case),
                "reproduce": report.reproduce(case),
            }
            for case in report.cases
        ],
    }
    if report.durations:  # only where asked for: equal runs give equal documents
        document["tookMs"] = dict(sorted(report.took_ms.items()))
    shown: JsonObject = redacted_value(document)
    return shown


def _header(report: RunReport) -> JsonObject | None:
    """What was compared; without when, so that equal runs give equal documents."""
    if report.header is None:
        return None
    return {key: value for key, value in report.header.to_json().items() if key != "started_at"}


def _finding(report: RunReport, finding: Finding) -> JsonObject:
    why = explanation(report, finding.case)
    return {
        "fingerprint": finding.cluster.fingerprint,
        "place": finding.cluster.place,
        "cases": list(finding.cluster.cases),
        "representative": finding.case.cassette,
        "channel": None if why.channel is None else why.channel.value,
        "sentences": list(why.sentences),
        "contradiction": why.contradiction,
        "seam": why.seam.value,
        "seamSure": why.sure,
        "seamDoubt": why.doubt,
        "behaviour": why.behaviour,
        "source": why.source,
        "lookIn": look_in(report, finding.case),
        "changedNear": changed_near(report, finding.case),
        "reproduce": finding.reproduce,
        "bisect": report.bisecting(finding.case).lines(),
    }


json_listener = partial(ReportFile, "--json", json_report)
