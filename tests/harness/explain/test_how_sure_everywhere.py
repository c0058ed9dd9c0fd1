"""Every report shows whether a seam is sure or a guess."""

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.explain import explained
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.report.html import html_report
from harness.report.json_report import json_report
from harness.report.junit import junit_report
from harness.report.summary import summary_report
from tests.harness.report.pages import divergent, report
from tests.harness.report.test_hostile import terminal


def case(channel: ChannelName, **more: Any) -> CaseResult:
    values: dict[str, Any] = {
        "control": 1,
        "candidate": 2,
        "control_index": 3,
        "candidate_index": 3,
        **more,
    }
    found = Divergence(cassette="a/b", channel=channel, kind=Kind.CHANGED, **values)
    return replace(divergent("a/b"), divergences=(found,), timelines="")


GUESSED = case(ChannelName.EVENTS, label="agent_end", path="reason")
PLAIN = case(ChannelName.EVENTS, label="usage", path="inputTokens")


@pytest.mark.parametrize(
    ("given", "words", "sure"),
    [(GUESSED, "probably lifecycle", False), (PLAIN, "event translation", True)],
)
def test_a_seam_is_shown_with_its_certainty(given: CaseResult, words: str, sure: bool) -> None:
    made = report(given)

    (finding,) = json.loads(json_report(made))["findings"]
    assert (finding["seam"], finding["seamSure"]) == (words.removeprefix("probably "), sure)
    for text in (terminal(made), summary_report(made), junit_report(made)):
        assert f"seam: {words}" in text
    assert f"<dd>{words}" in html_report(made)


def test_an_unsure_seam_has_a_reason() -> None:
    doubt = explained(GUESSED, "legacy", "adk").doubt

    assert doubt
    assert doubt in html_report(report(GUESSED))
    assert json.loads(json_report(report(GUESSED)))["findings"][0]["seamDoubt"] == doubt
