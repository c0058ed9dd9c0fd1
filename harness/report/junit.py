"""The report as JUnit XML, for build servers: a failure is a divergence, an error is a doubt."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from xml.etree import ElementTree as ET  # only written, never parsed

from harness.canonical import printable
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.listening import ReportFile
from harness.report.model import RunReport
from harness.report.words import reasons
from services.redaction import redacted

__all__ = ["junit_listener", "junit_report"]


def junit_report(report: RunReport) -> str:
    """One suite per family, one test case per cassette; a file that did not load is an error."""
    sides = f"parity {report.control} and {report.candidate}"
    root = ET.Element("testsuites", name=_text(sides))
    for row in report.families:
        cases = [case for case in report.cases if case.family == row.family]
        suite = _suite(root, row.family, row.total, row.divergent, row.inconclusive)
        _time(suite, [report.took_ms.get(case.cassette) for case in cases])
        for case in cases:
            _case(suite, case, report)
    if report.problems or report.partial:
        lacking = [(problem.file, problem.message) for problem in report.problems]
        if report.partial:
            judged = f"{len(report.cases)} of {report.planned} cases were judged"
            lacking.append(("run", f"the run is partial: {judged}"))
        suite = _suite(root, "not judged", len(lacking), 0, len(lacking))
        for name, message in lacking:
            element = ET.SubElement(suite, "testcase", classname="not judged", name=_text(name))
            ET.SubElement(element, "error", message=_text(message), type="usage")
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _suite(root: ET.Element, name: str, tests: int, failures: int, errors: int) -> ET.Element:
    counts = {"tests": tests, "failures": failures, "errors": errors}
    attributes = {"name": _text(name), **{key: str(count) for key, count in counts.items()}}
    return ET.SubElement(root, "testsuite", attributes)


def _time(element: ET.Element, took_ms: Iterable[float | None]) -> None:
    """Say how long it took, in seconds, as far as that is known."""
    known = [each for each in took_ms if each is not None]
    if known:
        element.set("time", f"{sum(known) / 1000:.3f}")


def _case(suite: ET.Element, case: CaseResult, report: RunReport) -> None:
    name = case.cassette.rpartition("/")[2]
    element = ET.SubElement(suite, "testcase", classname=_text(case.family), name=_text(name))
    _time(element, [report.took_ms.get(case.cassette)])
    for kind, findings in (("inherited", case.inherited), ("unsettled", case.unsettled)):
        if findings:
            _property(element, f"provider.{kind}", str(len(findings)))
    if case.contract:
        _property(element, "contract", " ".join(case.contract))
    if case.verdict is CaseVerdict.PARITY:
        return
    lines = reasons(report, case)
    tag = "failure" if case.verdict is CaseVerdict.DIVERGENT else "error"
    outcome = ET.SubElement(
        element, tag, message=_text(lines[0] if lines else ""), type=case.verdict.value
    )
    outcome.text = _text("\n".join([*lines, report.reproduce(case)]))


def _property(element: ET.Element, name: str, value: str) -> None:
    """Put a fact under `element`, which readers show beside the outcome."""
    holder = element.find("properties")
    holder = ET.SubElement(element, "properties") if holder is None else holder
    ET.SubElement(holder, "property", name=name, value=_text(value))


def _text(text: str) -> str:
    """`text` without secrets, with what XML cannot hold or no reader can see as escapes."""
    return "\n".join(map(printable, redacted(text).split("\n")))


junit_listener = partial(ReportFile, "--junit", junit_report)
