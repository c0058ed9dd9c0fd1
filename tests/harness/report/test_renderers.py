import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.provider import CommittedBy, CommittedFinding
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import WaiverStatus
from harness.provider.rules import ProviderFinding
from harness.report.html import html_report
from harness.report.json_report import json_report
from harness.report.junit import junit_report
from harness.report.model import ExitCode, LoadProblem, RunReport, exit_code
from harness.report.terminal import show

FOUND = Divergence(
    cassette="text/hello",
    channel=ChannelName.EVENTS,
    kind=Kind.CHANGED,
    label="message(agent)",
    control_index=3,
    candidate_index=3,
    path="content[0].text",
    control="<b>\x00[red]1",
    candidate="2",
)
GOOD = CaseResult(cassette="text/plain", rules={"timestamps": 2})
BAD = CaseResult(cassette="text/hello", divergences=(FOUND,), rules={"timestamps": 1})
UNSURE = CaseResult.undecided("abort/wait", "legacy could not go on")
PROBLEM = LoadProblem(file="x.yaml", message="x.yaml: model: is wrong; mend it")


OBJECTION = CommittedFinding(
    request=2,
    finding=ProviderFinding(rule="text-empty", path="contents[0].parts[1]", message="<b>\x00"),
    by=CommittedBy.BOTH,
)
OBJECTED = CaseResult(cassette="text/odd", inherited=(OBJECTION,) * 2, unsettled=(OBJECTION,))


def report(*cases: CaseResult, **changes: object) -> RunReport:
    base = RunReport(
        control="legacy",
        candidate="adk",
        cases=cases,
        planned=len(cases),
        files={"text/hello": "my cassettes/text/hello.yaml"},
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # test shorthand


def shown(given: RunReport, *, verbose: bool = False) -> str:
    stream = io.StringIO()
    show(given, stream, verbose=verbose)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("given", "verdict", "code"),
    [
        (report(GOOD), CaseVerdict.PARITY, 0),
        (report(GOOD, BAD), CaseVerdict.DIVERGENT, 1),
        (report(GOOD, UNSURE), CaseVerdict.INCONCLUSIVE, 3),
        (report(BAD, UNSURE), CaseVerdict.DIVERGENT, 1),
        (report(GOOD, problems=(PROBLEM,)), CaseVerdict.INCONCLUSIVE, 2),
        (report(BAD, UNSURE, problems=(PROBLEM,)), CaseVerdict.DIVERGENT, 2),
        (report(UNSURE, problems=(PROBLEM,)), CaseVerdict.INCONCLUSIVE, 2),
        (report(), CaseVerdict.INCONCLUSIVE, 3),
        (report(GOOD, planned=2), CaseVerdict.INCONCLUSIVE, 3),
        (report(BAD, interrupted=True), CaseVerdict.DIVERGENT, 130),
    ],
)
def test_of_several_outcomes_two_wins_over_one_over_three(
    given: RunReport, verdict: CaseVerdict, code: int
) -> None:
    assert given.verdict is verdict
    assert exit_code(given) == ExitCode(code)


def test_the_terminal_shows_families_first_cause_command_and_verdict() -> None:
    text = shown(report(GOOD, BAD, UNSURE), verbose=True)

    assert re.search(r"text\s+2\s+1\s+1", text)
    assert "inconclusive: abort/wait: legacy could not go on" in text
    assert "first divergence: text/hello" in text
    assert "events[3] message(agent): content[0].text (changed)" in text
    reproduce = "parity run 'my cassettes/text/hello.yaml' --control legacy --candidate adk"
    assert reproduce in text
    assert "timestamps 3" in text
    assert text.splitlines()[-1] == "divergent: legacy and adk over 3 cases"


def test_a_file_that_is_not_loaded_is_counted_and_named_with_the_verdict() -> None:
    lines = shown(report(GOOD, planned=1, problems=(PROBLEM,))).splitlines()

    assert lines[1].startswith("inconclusive: 1 parity, 1 not loaded of 2")
    assert lines[-1] == "inconclusive: legacy and adk over 1 case (1 more not loaded)"


def test_without_a_terminal_there_is_no_colour_and_no_markup_of_ours() -> None:
    text = shown(report(GOOD, BAD, UNSURE, problems=(PROBLEM,)))

    assert "\x1b" not in text
    assert "[red]1" in text


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colour_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured, plain = _Terminal(), _Terminal()
    show(report(BAD), coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    show(report(BAD), plain)

    assert re.search(r"\x1b\[[0-9;]*3[0-9]m", coloured.getvalue())
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain.getvalue())


def test_a_partial_report_says_so_everywhere() -> None:
    given = report(GOOD, planned=5, interrupted=True)

    assert "1 of 5 judged, partial report" in shown(given)
    assert json.loads(json_report(given))["partial"] is True
    assert "partial report" in html_report(given)
    assert "the run is partial: 1 of 5" in junit_report(given)


def test_waivers_are_listed_by_their_state() -> None:
    states = (
        WaiverStatus(id="W1", state="used", count=7, max_count=9),
        WaiverStatus(id="W2", state="expired", count=0, max_count=1),
        WaiverStatus(id="W3", state="unused", count=0, max_count=1),
        WaiverStatus(id="W4", state="unused", count=0, max_count=1),
    )

    text = shown(report(GOOD, waivers=states), verbose=True)

    assert "differences accepted by waivers: W1 7\n" in text
    assert "waiver W2: expired (0 of at most 1)\n" in text
    assert "waivers not used in this run: W3, W4\n" in text
    assert "unused" not in shown(report(GOOD, waivers=states))


def test_json_holds_every_case_with_explanation_and_command() -> None:
    document = json.loads(json_report(report(GOOD, BAD, problems=(PROBLEM,))))

    assert (document["verdict"], document["exitCode"]) == ("divergent", 2)
    assert [case["verdict"] for case in document["cases"]] == ["parity", "divergent"]
    found = document["cases"][1]["divergences"][0]
    assert (found["cassette"], found["channel"]) == ("text/hello", "events")
    assert (found["path"], found["waivedBy"]) == ("content[0].text", None)
    assert document["cases"][1]["explanation"][0].startswith("events[3]")
    assert document["problems"][0]["file"] == "x.yaml"


def test_junit_is_well_formed_and_counts_add_up() -> None:
    root = ET.fromstring(junit_report(report(GOOD, BAD, UNSURE, problems=(PROBLEM,))))
    suites = {suite.get("name"): suite for suite in root}

    assert suites["text"].get("tests") == "2"
    assert suites["text"].get("failures") == "1"
    assert suites["abort"].get("errors") == "1"
    failure = suites["text"].find("testcase[@name='hello']/failure")
    assert failure is not None
    assert failure.text is not None
    assert "parity run" in failure.text
    assert suites["not judged"].find("testcase/error") is not None


def test_every_report_survives_what_it_cannot_hold() -> None:
    odd = replace(BAD, divergences=(replace(FOUND, control="a\x00\x1b\ud800</x>", path="\x01"),))

    ET.fromstring(junit_report(report(odd)))
    html_report(report(odd)).encode()
    shown(report(odd)).encode()
    assert "\x1b" not in shown(report(odd))


def test_agreement_in_failure_is_remarked_on() -> None:
    given = report(replace(GOOD, remarks=("both sides ended with the same error: no",)))

    text = shown(given, verbose=True)
    assert "remark: text/plain: both sides ended with the same error: no" in text
    assert "remarks on 1 case at parity (-v lists them)\n" in shown(given)


def test_what_the_api_objects_to_on_both_sides_is_counted_everywhere() -> None:
    given = report(GOOD, OBJECTED)
    page, document = html_report(given), json.loads(json_report(given))
    properties = ET.fromstring(junit_report(given)).findall(".//property")

    inherited = "not counted: 2 findings of provider rules: the API would object, but the"
    unsettled = "not counted: 1 finding of provider rules on both sides: the API would object"
    for words, rule in ((inherited, "text-empty 2"), (unsettled, "text-empty 1")):
        plain, listed = (
            next(line for line in shown(given, verbose=verbose).splitlines() if words in line)
            for verbose in (False, True)
        )
        assert plain.endswith(" (-v lists them)")
        assert listed == f"{plain.removesuffix(' (-v lists them)')}: {rule}"
    assert (document["inherited"], document["unsettled"]) == ({"text-empty": 2}, {"text-empty": 1})
    assert document["cases"][1]["inherited"][0]["path"] == "contents[0].parts[1]"
    assert {each.get("name"): each.get("value") for each in properties} == {
        "provider.inherited": "2",
        "provider.unsettled": "1",
    }
    assert page.count("<td>text/odd</td>") == 3
    assert "<b>" not in page
    assert "\x00" not in page
    assert "provider rules" not in shown(report(GOOD))
    assert "objects to" not in html_report(report(GOOD))
