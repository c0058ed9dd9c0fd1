"""A `RunReport` as the data of the report's page: plain JSON values, every secret taken out.

One place turns results into what is shown, so that the template decides nothing and one call of the
redactor reaches all there is.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.explain import first_cause
from harness.explain.model import Explanation
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.html_case import case_kind, is_shown
from harness.report.html_charts import classes_of, cost_shape, coverage_rows, grid
from harness.report.html_rows import case_rows, pack_agreeing, packed_case
from harness.report.kills import kill_rows
from harness.report.model import PastRun, RunReport
from harness.report.words import changed_near, channels, explanation, look_in
from harness.triage.blame import blame
from harness.triage.clusters import Cluster
from harness.wording import counted
from services.redaction import redacted_value
from services.wire import JsonObject

__all__ = ["page_data"]

_ORDER: Final = {"finding": 0, "waived": 1, "noise": 2}
_VERDICTS: Final = {CaseVerdict.DIVERGENT: 0, CaseVerdict.INCONCLUSIVE: 1, CaseVerdict.PARITY: 2}


def page_data(report: RunReport) -> JsonObject:
    """Everything that the page shows."""
    contract = report.contract
    groups = [finding.cluster for finding in report.findings]
    group_of = {name: number for number, each in enumerate(groups, 1) for name in each.cases}
    shown = sorted(filter(is_shown, report.cases), key=lambda case: _order(case, groups, group_of))
    anchors = {case.cassette: f"case-{number}" for number, case in enumerate(shown, 1)}
    said = blame(report)
    page = {
        "verdict": report.verdict.value,
        "says": _says(report),
        "control": report.control,
        "candidate": report.candidate,
        "blame": None if said is None else said.line,
        "since": [] if report.since is None else report.since.lines(),
        "partial": _partial(report),
        "counts": _counts(report.cases),
        "problems": [problem.message for problem in report.problems],
        "groups": [
            _group(each, number, anchors[each.representative])
            for number, each in enumerate(groups, 1)
        ],
        "cases": [_case(report, case, anchors[case.cassette], group_of) for case in shown],
        "rows": case_rows(report, anchors),
        "agreeing": len(report.cases) - len(shown),
        "past": [_past(run) for run in report.past],
        "grid": grid(report.cases, contract),
        "coverage": coverage_rows(report.cases, contract),
        "kills": kill_rows(report.kills),
        "gates": list(report.gates),
        "cost": cost_shape(report.cases),
        "waivers": [
            {
                "id": waiver.id,
                "state": waiver.state,
                "count": waiver.count,
                "most": waiver.max_count,
                "left": waiver.days_left,
            }
            for waiver in report.waivers
        ],
        "rules": dict(report.rules),
        "objections": _objections(report),
        "facts": _facts(report),
    }
    clean: JsonObject = redacted_value(page)
    # What is packed was cleaned before; as base64 it could only be damaged.
    for case, row in zip(shown, clean["cases"], strict=True):
        row["packed"] = packed_case(report, case)
    pack_agreeing(report, clean["rows"])
    return clean


def _order(
    case: CaseResult, groups: Sequence[Cluster], group_of: Mapping[str, int]
) -> tuple[int, int, int, bool, str]:
    """Findings first, those of one cluster together with the one to look at in front."""
    group = group_of.get(case.cassette)
    leads = group is not None and groups[group - 1].representative == case.cassette
    return (
        _ORDER[case_kind(case)],
        _VERDICTS[case.verdict],
        len(groups) + 1 if group is None else group,
        not leads,
        case.cassette,
    )


def _says(report: RunReport) -> str:
    counts = Counter(case.verdict for case in report.cases)
    total, sides = len(report.cases), f"{report.candidate} and {report.control}"
    if divergent := counts[CaseVerdict.DIVERGENT]:
        words = f"{report.candidate} differs from {report.control} in {divergent} of"
        return f"{words} {counted(total, 'case')}."
    if report.verdict is CaseVerdict.PARITY:
        waived = sum(len(case.waived) for case in report.cases)
        but = f", except for {counted(waived, 'accepted difference')}" if waived else ""
        return f"{sides} agree in {_all(total)}{but}."
    if unsure := counts[CaseVerdict.INCONCLUSIVE]:
        return f"{unsure} of {counted(total, 'case')} inconclusive; no difference was found."
    if not total:
        return f"Nothing was compared: there was no case for {sides}."
    if report.problems:
        lacking = f"{counted(len(report.problems), 'file')} could not be loaded"
        return f"{sides} agree in {_all(total)}, but {lacking}."
    return f"{sides} agree in {_all(total)}, but more cases were planned."


def _all(total: int) -> str:
    return "the one case" if total == 1 else f"all {total} cases"


def _partial(report: RunReport) -> str | None:
    if not report.partial:
        return None
    words = f"partial report: {len(report.cases)} of {counted(report.planned, 'case')} judged"
    return f"{words}, the run was interrupted" if report.interrupted else words


def _counts(cases: Sequence[CaseResult]) -> JsonObject:
    counts = Counter(case.verdict.value for case in cases)
    return {
        "cases": len(cases),
        **{verdict.value: counts[verdict.value] for verdict in CaseVerdict},
        "waived": sum(len(case.waived) for case in cases),
        "noise": sum(len(case.noise) for case in cases),
    }


def _group(cluster: Cluster, number: int, anchor: str) -> JsonObject:
    return {
        "number": number,
        "anchor": anchor,
        "place": cluster.place,
        "cases": len(cluster.cases),
        "representative": cluster.representative,
    }


def _past(run: PastRun) -> JsonObject:
    parity, divergent, inconclusive = run.counts
    return {
        "began": run.began,
        "revision": run.revision,
        "verdict": run.verdict.value,
        "parity": parity,
        "divergent": divergent,
        "inconclusive": inconclusive,
        "missing": run.planned - sum(run.counts),
        "command": shlex.join(["parity", "report", "--journal", run.journal]),
        "page": run.page,
    }


def _case(
    report: RunReport, case: CaseResult, anchor: str, group_of: Mapping[str, int]
) -> JsonObject:
    said = _explained(report, case)
    words = {found.place for found in case.divergences} | set(case.waived.values())
    return {
        "anchor": anchor,
        "name": case.cassette,
        "kind": case_kind(case),
        "verdict": case.verdict.value,
        "phase": case.phase,
        "classes": classes_of(case, report.contract),
        "contract": case.contract,
        "group": group_of.get(case.cassette),
        "headline": _headline(case, said),
        "sentences": said.sentences,
        "contradiction": said.contradiction,
        "seam": "" if said.channel is None else said.seam_in_words,
        "doubt": said.doubt,
        "look": look_in(report, case),
        "behaviour": _behaviour(report, said),
        "open": len(case.open),
        "waived": len(case.waived),
        "remarks": case.remarks,
        "words": " ".join(sorted(words)),
        "command": report.reproduce(case),
        "changed": changed_near(report, case) if case.open else [],
        "bisect": _bisect(report, case),
        "took": report.took_ms.get(case.cassette),
    }


def _bisect(report: RunReport, case: CaseResult) -> JsonObject | None:
    if case.verdict is not CaseVerdict.DIVERGENT:
        return None
    found = report.bisecting(case)
    return {"command": found.command, "note": found.note}


def _headline(case: CaseResult, said: Explanation) -> str:
    """What to know a case by while it is closed; nothing where its numbers say it."""
    cause = first_cause(case)
    if cause is not None:
        return cause.place
    return next(iter(said.sentences), "") if case_kind(case) == "finding" else ""


def _explained(report: RunReport, case: CaseResult) -> Explanation:
    if case.verdict is not CaseVerdict.PARITY:
        return explanation(report, case)
    if case.waived:
        counts = Counter(case.waived.values())
        by = ", ".join(f"{waiver} ({count})" for waiver, count in sorted(counts.items()))
        said = f"Waivers accept every difference: {by}."
    else:
        places = counted(len(case.noise), "place")
        said = f"The runs of the control differ from each other in {places}."
    return Explanation(channel=None, sentences=(said,))


def _behaviour(report: RunReport, said: Explanation) -> JsonObject | None:
    if not said.behaviour:
        return None
    known = report.contract.by_id(said.behaviour)
    title = "" if known is None else known.title
    # Both come from a Markdown table; here they are text.
    plain = [text.replace("`", "") for text in (title, said.source)]
    return {"id": said.behaviour, "title": plain[0], "source": plain[1]}


def _channels(report: RunReport) -> dict[str, str]:
    """What was compared and what was not, if not all channels were."""
    lines = [line.partition(": ") for line in channels(report)]
    reasons = "; ".join(rest for what, _, rest in lines if what != "compared")
    return {lines[0][0]: lines[0][2], "not compared": reasons} if lines else {}


def _facts(report: RunReport) -> list[JsonObject]:
    """What ran, in groups `{title, rows}`; the first one is shown, the others unfold."""
    sides = {"control": report.control, "candidate": report.candidate}
    header = report.header
    if header is None:
        return [_group_of_facts("", {**sides, **report.versions})]
    commit = f"{header.revision}{', with changes' if header.dirty else ''}"
    facts = {
        **sides,
        "begun": header.started_at,
        "revision": commit if header.revision else "",
        "waivers judged by": header.as_of,
        "phase": header.phase or "",
        "shard": header.shard,
        "runs of each side": str(header.repeat) if header.repeat > 1 else "",
        **header.made_of,
        **_channels(report),
    }
    return [
        _group_of_facts("", facts),
        _group_of_facts("Digests", header.components),
        _group_of_facts("Environment", header.environment),
    ]


def _group_of_facts(title: str, facts: Mapping[str, str]) -> JsonObject:
    rows = [{"name": name, "value": value} for name, value in facts.items() if value]
    return {"title": title, "rows": rows}


def _objections(report: RunReport) -> list[JsonObject]:
    """What the API objects to on both sides, and is no difference: case by case."""
    rows: list[Mapping[str, Any]] = []
    for case in report.cases:
        for core, findings in (("inherited", case.inherited), ("not known", case.unsettled)):
            rows += [
                {
                    "case": case.cassette,
                    "rule": found.finding.rule,
                    "request": found.request,
                    "path": found.finding.path,
                    "message": found.finding.message,
                    "by": found.by.value,
                    "core": core,
                }
                for found in findings
            ]
    return [dict(row) for row in rows]
