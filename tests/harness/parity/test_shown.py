"""Channels by choice: what a comparison uses, why the rest is out, and what a project lets vary."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.baseline.document import from_document, to_document
from harness.parity.compare import compare_observations, compare_repeated, observation_digest
from harness.parity.divergence import ChannelName
from harness.parity.vary import rules_of
from harness.parity.verdict import CaseVerdict
from harness.replay.observation import Observation
from harness.replay.trace import to_trace
from harness.report.model import RunReport
from harness.report.words import channels, headline
from harness.triage.traces import parse_trace
from runtimes.project import Vary
from tests.harness.samples import Facts, observation

SOME = frozenset({"requests", "events", "custom"})


def side(name: str, **changes: Any) -> Observation:
    return replace(observation(name), channels=SOME, **changes)


def with_event(seen: Observation, **changes: Any) -> Observation:
    events = [dict(event) for event in seen.events]
    events[-1].update(changes)
    return replace(seen, events=events)


def test_a_channel_that_one_side_does_not_show_is_not_compared() -> None:
    hand = side("hand")
    stock = replace(side("stock"), transcript=[], recording={}, channels=SOME - {"custom"})

    result = compare_repeated([hand], [stock], Facts())

    assert result.verdict is CaseVerdict.PARITY
    assert result.left_out["custom"] == "stock does not show it"
    assert result.left_out["transcript"] == "neither hand nor stock shows it"
    assert "requests" not in result.left_out
    assert list(result.left_out) == [each for each in ChannelName if each in result.left_out]


def test_what_is_compared_still_differs() -> None:
    found = compare_observations(side("hand"), with_event(side("stock"), reason="aborted"))

    assert {each.channel for each in found.divergences} == {ChannelName.EVENTS}


def test_runtimes_that_show_everything_leave_nothing_out() -> None:
    assert compare_observations(observation("legacy"), observation("adk")).left_out == {}


def test_what_the_project_leaves_out_has_its_reason() -> None:
    out = {"events": "both print the time"}
    hand = replace(observation("hand"), left_out=out)
    stock = with_event(replace(observation("stock"), left_out=out), reason="aborted")

    found = compare_observations(hand, stock)

    assert found.divergences == ()
    assert found.left_out == {"events": "the project leaves it out: both print the time"}
    assert observation_digest(hand) == observation_digest(stock)


def test_custom_channels_are_compared_item_by_item() -> None:
    hand = side("hand", custom={"orders": [{"id": 1, "state": "paid"}], "mails": []})
    stock = side("stock", custom={"orders": [{"id": 1, "state": "open"}]})

    found = compare_observations(hand, stock)

    (only,) = found.divergences
    assert (only.place, only.control, only.candidate) == (
        "custom[0] orders: item.state",
        "paid",
        "open",
    )
    assert found.left_out["custom mails"] == "stock does not show it"


@pytest.mark.parametrize(
    ("vary", "parity"),
    [
        ({"path": "id"}, True),
        ({"path": "id", "id": True}, True),
        ({"path": "*"}, True),
        ({"path": "id", "text": r"\d+"}, True),
        ({"path": "id", "text": "x"}, False),
        ({"path": "name"}, False),
        ({"path": "id[]"}, False),
    ],
)
def test_a_value_that_varies_is_hidden(vary: dict[str, Any], parity: bool) -> None:
    rule = Vary(channel="custom", reason="each run has its own", **vary)
    hand, stock = (
        side(name, custom={"orders": [{"id": f"A-{number}"}]}, vary=(rule,))
        for name, number in (("hand", 1), ("stock", 2))
    )

    found = compare_observations(hand, stock)

    assert (found.divergences == ()) is parity
    assert (f"vary custom {rule.path}" in found.rules) is parity


@pytest.mark.parametrize("optional", [False, True])
def test_a_value_that_one_side_lacks_is_hidden_if_it_may_be_lacking(optional: bool) -> None:
    rule = Vary(channel="custom", path="id", optional=optional, reason="the old shop has none")
    hand, stock = (
        side(name, custom={"orders": [item]}, vary=(rule,))
        for name, item in (("hand", {"tea": "mint"}), ("stock", {"tea": "mint", "id": "A-1"}))
    )

    assert (compare_observations(hand, stock).divergences == ()) is optional


def test_an_id_belongs_to_one_id_everywhere() -> None:
    rule = Vary(channel="custom", path="id", id=True, reason="each run has its own")

    def orders(*ids: str) -> dict[str, Any]:
        return {"custom": {"orders": [{"id": each} for each in ids]}, "vary": (rule,)}

    same = compare_observations(side("hand", **orders("a", "a")), side("stock", **orders("x", "x")))
    other = compare_observations(
        side("hand", **orders("a", "a")), side("stock", **orders("x", "y"))
    )

    assert same.divergences == ()
    assert [each.path for each in other.divergences] == ["item.id"]


def test_places_of_requests_are_those_that_reports_show() -> None:
    rule = Vary(channel="requests", path="contents[].parts[].text", reason="it has the time")
    item = {"newContents": [{"parts": [{"text": "now"}, {"call": 1}]}], "model": "x"}

    from harness.parity.items import Item

    made = Item(json.loads(json.dumps(item)), "")
    (found,) = rules_of(ChannelName.REQUESTS, (rule,))
    found.apply(made)

    assert made.value["newContents"][0]["parts"] == [{"text": "<varies>"}, {"call": 1}]
    assert list(made.hidden) == ["newContents[0].parts[0].text"]
    assert rules_of(ChannelName.EVENTS, (rule,)) == ()


def test_traces_and_baselines_keep_them() -> None:
    seen = side("legacy", custom={"orders": [{"id": 1}]})
    stored = from_document(to_document(seen), name="a", runtime="legacy", versions={})
    traced = parse_trace(json.dumps(to_trace(seen)), "x")

    assert (stored.channels, stored.custom) == (SOME, {"orders": [{"id": 1}]})
    assert (traced.channels, traced.custom) == (SOME, {"orders": [{"id": 1}]})
    assert "channels" not in to_document(observation())


def test_the_report_says_what_was_compared() -> None:
    result = compare_repeated([side("hand")], [side("stock")], Facts())
    report = RunReport(control="hand", candidate="stock", cases=(result,), planned=1)
    whole = RunReport(control="a", candidate="b", planned=0, cases=())

    assert headline(report).endswith("over 1 case, by 3 of 14 channels")
    assert channels(report)[0] == "compared: requests, custom, events"
    assert channels(report)[1].startswith("not compared: provider, retries, ")
    assert channels(report)[1].endswith(": neither hand nor stock shows it")
    assert channels(whole) == []
