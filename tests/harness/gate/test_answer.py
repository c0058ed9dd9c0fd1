"""`GateAnswer`: follows from its reasons, and reads back as it was written or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.gate.answer import Answer, GateAnswer, Reason, ReasonKind, answer_of
from harness.gate.samples import bound_in_words
from tests.harness.gate.green import divergence, spoiled, world


def reason(kind: ReasonKind) -> Reason:
    return Reason(kind=kind, about="it", says="it is so", change="make it otherwise")


def written() -> dict[str, Any]:
    answer = GateAnswer.of(
        [reason(ReasonKind.LEG_MISSING)], phase="A", profile="release", as_of="2026-03-01"
    )
    return dict(json.loads(json.dumps(answer.to_json())))


def test_what_contradicts_wins_over_what_lacks_and_nothing_is_a_yes() -> None:
    lacks, contradicts = reason(ReasonKind.LEG_MISSING), reason(ReasonKind.DIVERGENT)

    assert answer_of([]) is Answer.YES
    assert answer_of([lacks]) is Answer.UNKNOWN
    assert answer_of([lacks, contradicts]) is Answer.NO


@pytest.mark.parametrize("red", [False, True])
def test_an_answer_comes_back_from_json_as_it_was(red: bool, tmp_path: Path) -> None:
    made = spoiled(
        lambda made: (
            made.change_case("adk", "a/one", divergences=(divergence("a/one"),)) if red else None
        )
    )
    answer = made.judged(tmp_path)

    again = GateAnswer.from_json(json.loads(json.dumps(answer.to_json())))

    assert again == answer
    assert again.to_json() == answer.to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "yes"},
        {"answer": "no"},
        {"answer": "maybe"},
        {"gate": 2},
        {"gate": None},
        {"more": 1},
        {"asOf": None},
        {"as_of": "2026-03-01"},
        {"reasons": [{"kind": "leg missing", "about": "x", "says": "y"}]},
        {"reasons": [{"kind": "no kind", "about": "x", "says": "y", "change": "z"}]},
        {"legs": [{"name": "x"}]},
        {"kills": {"all": 1}},
        {"inventory": {"harness": 1}},
    ],
)
def test_what_is_not_exactly_an_answer_is_refused(change: dict[str, Any]) -> None:
    GateAnswer.from_json(written())

    with pytest.raises(ValueError, match=r".+"):
        GateAnswer.from_json(written() | change)


def test_the_answer_says_what_was_seen_of_every_part(tmp_path: Path) -> None:
    answer = world().judged(tmp_path)

    assert [(leg.name, leg.cases, leg.parity) for leg in answer.legs] == [
        ("upstream ≡ legacy", 3, 3),
        ("legacy ≡ adk", 3, 3),
        ("begun in adk", 1, 1),
    ]
    assert [(each.name, each.cases, each.reached) for each in answer.coverage] == [("tools", 3, 2)]
    assert [(each.name, each.killed, each.observable) for each in answer.kills] == [
        ("all", 8, 8),
        ("held out", 4, 4),
        ("tools", 8, 8),
    ]
    assert answer.cost[0].model_calls == (6, 6)
    assert answer.cost[0].prefix_stability == (0.8, 0.8)
    assert answer.samples[0].says == (
        "0 divergences in 120 independent scenarios of profile fallback: at 95 % fewer than 1 in 40"
    )


@pytest.mark.parametrize(
    ("examples", "one_in"),
    [
        (12_000, "4,000"),
        (1, "1"),
        (3, "1"),
        (59, "20"),
        (100, "33"),
        (300, "100"),
        (3_000, "1,000"),
    ],
)
def test_a_bound_in_plain_words_claims_no_more_than_the_exact_one(
    examples: int, one_in: str
) -> None:
    words = bound_in_words(examples, "fallback")

    assert words.endswith(f"of profile fallback: at 95 % fewer than 1 in {one_in}")
    # The chance of seeing none at a rate of 1 in N must be 5 % or less.
    assert (1 - 1 / int(one_in.replace(",", ""))) ** examples <= 0.05


def test_equal_legs_have_equal_digests_and_another_trace_another(tmp_path: Path) -> None:
    first = world().judged(tmp_path / "a").legs
    other = spoiled(lambda made: made.change_case("adk", "a/one", digests=("e" * 64, "e" * 64)))
    second = other.judged(tmp_path / "b").legs

    assert first[0].digest == second[0].digest
    assert first[1].digest != second[1].digest
