from dataclasses import replace
from typing import Any

import pytest

from harness.explain import Explanation, Seam, explain, explained, first_cause
from harness.parity.compare import compare_repeated
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult, Noise
from harness.replay.observation import Observation
from services.state import RetryAttempt
from tests.harness.samples import Facts, model, observation, user


def explanation_of(
    control: Observation, candidate: Observation, name: str = "tools/read"
) -> Explanation:
    result = compare_repeated([control], [candidate], Facts(name=name))
    return explained(result, "legacy", "adk")


def with_event(seen: Observation, index: int, **changes: Any) -> Observation:
    events = [dict(event) for event in seen.events]
    events[index].update(changes)
    return replace(seen, events=events)


def with_question(seen: Observation, index: int, **changes: Any) -> Observation:
    requests = list(seen.requests)
    requests[index] = replace(requests[index], **changes)
    return replace(seen, requests=requests)


def divergence(channel: ChannelName, kind: Kind = Kind.CHANGED, **more: Any) -> Divergence:
    values = {"control": 1, "candidate": 2, "control_index": 3, "candidate_index": 3, **more}
    return Divergence(cassette="a/b", channel=channel, kind=kind, **values)


def result(*found: Divergence, name: str = "a/b", **more: Any) -> CaseResult:
    return CaseResult(cassette=name, divergences=found, runtimes=("legacy", "adk"), **more)


def test_parity_needs_no_sentence() -> None:
    assert explanation_of(observation("legacy"), observation("adk")).sentences == ()


def test_a_changed_event_is_explained_from_its_channel_to_its_contradiction() -> None:
    seen = observation("adk")

    made = explanation_of(observation("legacy"), with_event(seen, 4, inputTokens=11))

    assert made.channel is ChannelName.EVENTS
    assert made.sentences[0] == (
        "The first difference is in the events of the client (channel events): legacy and adk "
        "differ in the fifth event (usage)."
    )
    assert (
        "Last common step: emitted message of the model: text 'It says hello.'" in made.sentences[1]
    )
    assert any(
        sentence == "At inputTokens legacy has 10, adk has 11." for sentence in made.sentences
    )
    assert "only one of the two can be right" in made.contradiction
    assert made.seam is Seam.EVENTS
    assert made.lines()[-1] == "seam: event translation"


def test_a_lone_request_is_explained_with_what_the_other_side_did_instead() -> None:
    seen = observation("adk")

    made = explanation_of(observation("legacy"), replace(seen, requests=seen.requests[:1]))

    assert made.channel is ChannelName.REQUESTS
    assert "legacy sent the second request, adk did not." in made.sentences[0]
    assert any(
        sentence.startswith("legacy sent a request to gemini-2.5-flash")
        for sentence in made.sentences
    )
    assert any(sentence.startswith("adk continued without it") for sentence in made.sentences)
    assert "adk must have this request, too, or legacy must not" in made.contradiction


def test_an_explanation_says_that_a_side_did_nothing_more() -> None:
    order = [("requests", 0, 0), ("retries", 0, 0), ("retries", 1, 0), ("tool_states", 0, 2)]
    order.append(("requests", 1, 3))
    here, there = (replace(observation(name), order=order) for name in ("legacy", "adk"))

    made = explanation_of(here, replace(there, events=there.events[:-1]))

    assert "adk did nothing more in this run." in made.sentences


def test_waived_divergences_count_as_equal_in_an_explanation() -> None:
    judged = compare_repeated(
        [observation("legacy")],
        [with_event(with_event(observation("adk"), 4, inputTokens=1), 6, reason="failed")],
        Facts(),
    )
    index = next(n for n, found in enumerate(judged.divergences) if found.path == "inputTokens")

    made = explained(replace(judged, waived={index: "W1"}), "legacy", "adk")

    assert "(agent_end)" in made.sentences[0]
    assert "Both runs are equal up to this point" in made.sentences[1]


def test_a_place_in_a_request_is_named_as_a_turn_of_the_history() -> None:
    seen = observation("adk")
    contents = (*seen.requests[1].new_contents[:1], user("other"))
    made = explanation_of(
        observation("legacy"), with_question(seen, 1, new_contents=contents, digest="x")
    )

    assert any("(turn 3 of the history in the request)" in each for each in made.sentences)


def test_a_long_text_is_shown_where_it_differs() -> None:
    seen = observation("legacy")
    text = "the same words over and over " * 20

    made = explanation_of(
        with_event(seen, 5, message=f"{text}A"), with_event(seen, 5, message=f"{text}B")
    )

    (sentence,) = (each for each in made.sentences if each.startswith("At message"))
    assert 'A"' in sentence
    assert 'B"' in sentence


def test_an_explanation_counts_other_channels_and_names_waivers() -> None:
    found = (
        divergence(ChannelName.REQUESTS, path="model"),
        divergence(ChannelName.EVENTS),
        divergence(ChannelName.EVENTS, control_index=4),
        divergence(ChannelName.COST),
    )

    made = explained(result(*found, waived={0: "W1"}), "legacy", "adk")

    assert made.channel is ChannelName.EVENTS
    assert "Also different, possibly as a consequence: events (1), cost (1)." in made.sentences
    assert "Accepted by waivers: W1." in made.sentences


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (divergence(ChannelName.EVENTS, Kind.ORDER, candidate_index=5), "is at another position"),
        (
            divergence(ChannelName.EVENTS, Kind.NONDETERMINISTIC),
            "the runs of adk differ from each other",
        ),
        (
            divergence(ChannelName.REQUESTS, Kind.REPLAY, path="notes[0]"),
            "the course of the replay differs",
        ),
        (divergence(ChannelName.WORKSPACE, label="a.txt"), "differ in the file a.txt"),
    ],
)
def test_each_kind_of_difference_has_a_first_sentence_of_its_own(
    found: Divergence, words: str
) -> None:
    made = explained(result(found), "legacy", "adk")

    assert words in made.sentences[0]
    assert f"(channel {found.channel.value})" in made.sentences[0]
    assert made.contradiction


def test_what_the_api_refuses_is_explained_with_its_evidence() -> None:
    found = divergence(
        ChannelName.PROVIDER, Kind.EXTRA, label="text-empty", control=ABSENT, candidate="says ''"
    )

    made = explained(result(found), "legacy", "adk")

    assert "the requests to which the model's API objects" in made.sentences[0]
    assert any(sentence.startswith("Evidence: ") for sentence in made.sentences)
    assert made.seam is Seam.REQUEST_ASSEMBLY


def test_a_case_that_decides_nothing_says_why() -> None:
    blocked = explained(CaseResult.undecided("a/b", "no disk"), "legacy", "adk")
    noisy = explained(
        CaseResult(cassette="a/b", blockers=("noise",), noise=(Noise(place="events", hides=2),)),
        "legacy",
        "adk",
    )
    doubtful = explained(CaseResult(cassette="a/b", doubts=("left over",)), "legacy", "adk")

    assert blocked.channel is None
    assert blocked.sentences == ("Nothing can be decided: no disk.",)
    assert "2 differences between legacy and adk may be noise" in noisy.sentences[1]
    assert "that is not enough: left over" in doubtful.sentences[0]


def test_of_two_retries_and_a_question_the_earliest_is_the_cause() -> None:
    # The retry was announced before the request was repeated.
    again = RetryAttempt(attempt=1, max_attempts=3, delay_ms=1, error="E", model="m")
    here, there = observation("legacy"), observation("adk")
    order = [("requests", 0, 1), ("retries", 0, 1), ("requests", 1, 3)]
    here = replace(here, order=order)
    there = with_question(replace(there, order=order, retries=[again]), 1, model="other")

    judged = compare_repeated([here], [there], Facts())

    cause = first_cause(judged)
    assert cause is not None
    assert cause.channel is ChannelName.RETRIES


def test_an_explanation_ignores_broken_timelines() -> None:
    judged = result(divergence(ChannelName.EVENTS, label="usage"), timelines="no base64!")

    made = explained(judged, "legacy", "adk")

    assert made.channel is ChannelName.EVENTS
    assert made.seam is Seam.EVENTS


def test_texts_are_printable_whatever_is_in_a_case() -> None:
    found = divergence(
        ChannelName.EVENTS,
        control="\x1b[31mred\u202e",
        candidate="x\ny",
        label="a\x07b",
        path="p\r",
    )

    made = explained(result(found), "legacy\x1b", "adk")

    assert all(line.isprintable() for line in made.lines())
    assert all(line.isprintable() for line in explain(result(found), "legacy", "adk"))


def test_the_first_line_in_a_terminal_names_channel_and_place() -> None:
    found = divergence(ChannelName.EVENTS, label="usage", path="inputTokens")

    lines = explain(result(found), "legacy", "adk")

    assert lines[0] == "events[3] usage: inputTokens (changed)"
    assert lines[1].startswith("1. ")


def test_an_explanation_names_the_declared_behaviour_of_the_seam() -> None:
    from harness.config import default_contract
    from harness.coverage.contract import load_contract

    contract = load_contract(default_contract())
    retries = next(each for each in contract.behaviours if each.behaviour_class == "errors")
    hooks = next(each for each in contract.behaviours if each.behaviour_class == "hooks")
    found = divergence(ChannelName.RETRIES, label="retry", path="retry.delayMs")

    both = explained(result(found, contract=(hooks.id, retries.id)), "legacy", "adk", contract)
    none = explained(result(found, contract=(hooks.id,)), "legacy", "adk", contract)

    assert (both.behaviour, both.source) == (retries.id, retries.source)
    assert none.behaviour == ""


def test_the_same_result_is_explained_alike_after_a_journal() -> None:
    judged = compare_repeated(
        [observation("legacy")], [with_event(observation("adk"), 6, reason="failed")], Facts()
    )

    again = CaseResult.from_json(judged.to_json())

    assert explained(again, "legacy", "adk") == explained(judged, "legacy", "adk")


def test_an_answer_remembered_otherwise_is_the_history_s() -> None:
    seen = observation("adk")
    other = replace(seen, transcript=[*seen.transcript[:-1], model("It says bye.")])

    assert explanation_of(observation("legacy"), other).seam is Seam.HISTORY
