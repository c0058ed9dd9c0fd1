import json

import pytest

from harness.explain import explain, first_cause
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult, CaseVerdict, Noise, decide, leftover_doubts

PARITY, DIVERGENT, INCONCLUSIVE = CaseVerdict


def divergence(channel: ChannelName, kind: Kind = Kind.CHANGED, path: str = "a") -> Divergence:
    return Divergence(
        cassette="a/b",
        channel=channel,
        kind=kind,
        label="usage",
        control_index=3,
        candidate_index=4,
        path=path,
        control={"text": "ä"},
        candidate=2,
    )


@pytest.mark.parametrize(
    ("blockers", "is_open", "doubts", "expected"),
    [
        ([], False, [], PARITY),
        ([], True, [], DIVERGENT),
        ([], False, ["d"], INCONCLUSIVE),
        ([], True, ["d"], DIVERGENT),
        (["b"], False, [], INCONCLUSIVE),
        (["b"], True, [], INCONCLUSIVE),
        (["b"], True, ["d"], INCONCLUSIVE),
        (["b"], False, ["d"], INCONCLUSIVE),
    ],
)
def test_the_table(
    blockers: list[str], is_open: bool, doubts: list[str], expected: CaseVerdict
) -> None:
    assert decide(blockers=blockers, open=is_open, doubts=doubts) is expected


@pytest.mark.parametrize(
    ("control", "candidate", "declared", "doubtful"),
    [
        ([], [], [], False),
        ([1], [1], [1], False),
        ([1], [1], [1, 2], False),
        ([1, 2], [1, 2], [1], True),
        ([1], [], [], False),
    ],
)
def test_leftovers(
    control: list[int], candidate: list[int], declared: list[int], doubtful: bool
) -> None:
    assert bool(leftover_doubts(control, candidate, declared)) is doubtful


def test_a_result_survives_json() -> None:
    result = CaseResult(
        cassette="a/b",
        blockers=("x",),
        doubts=("y",),
        remarks=("z",),
        divergences=(divergence(ChannelName.EVENTS), divergence(ChannelName.COST)),
        waived={1: "W1"},
        cut=(ChannelName.EVENTS,),
        rules={"timestamps": 2},
        noise=(Noise(place="p", hides=1),),
        digests=("1", "2"),
        runtimes=("upstream@0.60.0", "legacy"),
    )

    assert CaseResult.from_json(json.loads(json.dumps(result.to_json()))) == result


@pytest.mark.parametrize("cost", [[], [{}], [{}, {}, {}], 7])
def test_a_cost_without_two_sides_is_refused_with_a_message(cost: object) -> None:
    written = CaseResult(cassette="a/b").to_json() | {"cost": cost}

    with pytest.raises((ValueError, TypeError)):
        CaseResult.from_json(written)


def test_a_fingerprint_leaves_out_values_positions_and_the_cassette() -> None:
    one = divergence(ChannelName.EVENTS, path="content[0].text")
    same = Divergence(
        cassette="other/name",
        channel=ChannelName.EVENTS,
        kind=Kind.CHANGED,
        label="usage",
        path="content[7].text",
    )

    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != divergence(ChannelName.EVENTS, path="content[0].data").fingerprint
    assert one.fingerprint != divergence(ChannelName.COST, path="content[0].text").fingerprint


def test_the_first_cause_is_in_the_earliest_channel() -> None:
    found = [
        divergence(ChannelName.EVENTS),
        divergence(ChannelName.TRANSCRIPT),
        divergence(ChannelName.REQUESTS, Kind.REPLAY),
        divergence(ChannelName.REQUESTS),
    ]

    cause = first_cause(CaseResult(cassette="a/b", divergences=tuple(found)))

    assert cause is found[3]


def test_a_waived_divergence_is_no_cause() -> None:
    found = (divergence(ChannelName.REQUESTS), divergence(ChannelName.EVENTS))

    cause = first_cause(CaseResult(cassette="a/b", divergences=found, waived={0: "W1"}))

    assert cause is found[1]


def test_the_explanation_names_place_sides_and_values() -> None:
    found = (divergence(ChannelName.EVENTS, path="inputTokens"), divergence(ChannelName.COST))

    lines = explain(CaseResult(cassette="a/b", divergences=found), "legacy", "adk")

    assert lines[0] == "events[3] usage: inputTokens (changed)"
    assert lines[1].startswith("1. The first difference is in the events of the client")
    assert 'At inputTokens legacy has {"text": "ä"}, adk has 2.' in lines[2]
    assert "Also different, possibly as a consequence: cost (1)." in lines[3]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.MISSING, "legacy emitted the fourth event (usage), adk did not"),
        (Kind.EXTRA, "adk emitted the fourth event (usage), legacy did not"),
        (Kind.ORDER, "the fourth event (usage) is at another position"),
        (Kind.NONDETERMINISTIC, "the runs of adk differ from each other"),
        (Kind.REPLAY, "the course of the replay differs"),
    ],
)
def test_each_kind_has_a_sentence(kind: Kind, words: str) -> None:
    found = divergence(ChannelName.EVENTS, kind)

    assert words in explain(CaseResult(cassette="a/b", divergences=(found,)), "legacy", "adk")[1]


def test_parity_needs_no_explanation_and_doubt_is_its_own() -> None:
    assert explain(CaseResult(cassette="a/b"), "legacy", "adk") == []
    assert explain(CaseResult(cassette="a/b", doubts=("left over",)), "l", "a") == ["left over"]
    assert explain(CaseResult.undecided("a/b", "no disk"), "l", "a") == ["no disk"]


def test_a_family_is_the_folder_of_the_name() -> None:
    assert CaseResult(cassette="loops/tool_nudge").family == "loops"
    assert CaseResult(cassette="alone").family == "alone"


def test_steps_in_a_row_are_named_as_a_range() -> None:
    (few,) = leftover_doubts([1, 2, 3, 5, 8, 9], [1, 2, 3, 5, 8, 9], [9])
    (many,) = leftover_doubts(range(4, 340), range(4, 340), [])

    assert few == (
        "neither side requested model[1] to model[3], model[5], model[8]; "
        "if that is intended, declare `unused: [1, 2, 3, 5, 8]` in the cassette"
    )
    assert many.startswith("neither side requested model[4] to model[339]; ")
    assert len(many) < 120
