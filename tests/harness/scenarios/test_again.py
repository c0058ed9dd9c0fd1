from dataclasses import replace

import pytest

from harness.parity.divergence import Kind
from harness.parity.verdict import CaseResult, CaseVerdict, Noise
from harness.scenarios.again import AgainTask, judged_again, run_again
from harness.scenarios.generation import Again
from harness.scenarios.judging import Judging
from tests.harness.scenarios.made_up import WAIVERS, divergence, document, finding

HOW = Judging(control="legacy", candidate="adk", waivers=WAIVERS)
SAME = CaseResult(cassette="generated/everything_1", digests=("a", "b"))


def task() -> AgainTask:
    found = finding()
    return AgainTask(
        document=found.document, fingerprint=found.fingerprint, result=found.result, how=HOW
    )


def test_a_control_that_differs_from_itself_is_noise() -> None:
    noisy = replace(
        SAME,
        noise=(Noise(place="events[1]", hides=1),),
        blockers=("legacy differs from itself from run to run",),
    )

    outcome = judged_again(task(), noisy, 5)

    assert outcome.again is Again.NOISE
    assert outcome.result.verdict is CaseVerdict.INCONCLUSIVE


def test_a_candidate_that_alone_differs_from_itself_is_divergent_with_its_rate() -> None:
    unsteady = replace(SAME, divergences=(divergence(kind=Kind.NONDETERMINISTIC),))

    outcome = judged_again(task(), unsteady, 5)

    assert outcome.again is Again.NONDETERMINISTIC
    assert outcome.result.verdict is CaseVerdict.DIVERGENT


@pytest.mark.parametrize(
    ("digests", "again", "verdict"),
    [
        (("other", "b"), Again.NOISE, CaseVerdict.INCONCLUSIVE),
        (("other", "other"), Again.NOISE, CaseVerdict.INCONCLUSIVE),
        (("a", "other"), Again.NONDETERMINISTIC, CaseVerdict.DIVERGENT),
        (("a", "b"), Again.GONE, CaseVerdict.INCONCLUSIVE),
        (("", ""), Again.GONE, CaseVerdict.INCONCLUSIVE),
    ],
)
def test_what_was_seen_once_only_is_laid_to_the_side_that_did_something_else_then(
    digests: tuple[str, str], again: Again, verdict: CaseVerdict
) -> None:
    outcome = judged_again(task(), replace(SAME, digests=digests), 5)

    assert outcome.again is again
    assert outcome.result.verdict is verdict
    if again is Again.NONDETERMINISTIC:
        assert "1 of 6 runs" in outcome.remark
        assert {found.kind for found in outcome.result.open} == {Kind.NONDETERMINISTIC}


def test_a_difference_that_nothing_shows_any_more_decides_nothing() -> None:
    outcome = run_again(task())

    assert outcome.again is Again.NOISE  # the digests of the finding are made up
    assert outcome.result.verdict is CaseVerdict.INCONCLUSIVE


def test_a_finding_that_comes_again_is_judged_anew() -> None:
    faulty = replace(HOW, fault="usage-dropped")
    chunk = {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "it"}]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
    }
    asked = {**document(), "model": [{"stream": [chunk]}]}
    first = faulty.judge(asked)
    assert first.fingerprint is not None

    outcome = run_again(
        AgainTask(document=asked, fingerprint=first.fingerprint, result=first.result, how=faulty)
    )

    assert outcome.again is Again.CAME
    assert outcome.result.digests == first.result.digests


def test_what_is_no_cassette_decides_nothing() -> None:
    outcome = run_again(replace(task(), document={"name": "generated/x"}))

    assert outcome.again is Again.GONE
    assert "no cassette" in outcome.remark


def test_what_only_a_socket_showed_and_does_not_show_again_decides_nothing() -> None:
    outcome = run_again(replace(task(), how=replace(HOW, cuts=3)))

    assert outcome.again is Again.GONE
    assert outcome.result.verdict is CaseVerdict.INCONCLUSIVE
