from dataclasses import replace

import pytest

from harness.cassette.format import Cassette
from harness.parity.divergence import Kind
from harness.parity.verdict import CaseResult, CaseVerdict, Noise
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
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
def test_a_finding_seen_once_is_attributed_to_the_side_that_changed(
    digests: tuple[str, str], again: Again, verdict: CaseVerdict
) -> None:
    outcome = judged_again(task(), replace(SAME, digests=digests), 5)

    assert outcome.again is again
    assert outcome.result.verdict is verdict
    if again is Again.NONDETERMINISTIC:
        assert "1 of 6 runs" in outcome.remark
        assert {found.kind for found in outcome.result.open} == {Kind.NONDETERMINISTIC}


def test_a_finding_that_does_not_come_again_decides_nothing() -> None:
    outcome = run_again(task())

    assert outcome.again is Again.NOISE  # the digests of the finding are not those of real runs
    assert outcome.result.verdict is CaseVerdict.INCONCLUSIVE


FAULTY = replace(HOW, fault="usage-dropped")
CHUNK = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "it"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
}


def found_by_the_fault() -> AgainTask:
    asked = {**document(), "model": [{"stream": [CHUNK]}]}
    first = FAULTY.judge(asked)
    assert first.fingerprint is not None
    return AgainTask(document=asked, fingerprint=first.fingerprint, result=first.result, how=FAULTY)


def test_a_finding_that_comes_again_is_judged_anew() -> None:
    found = found_by_the_fault()

    outcome = run_again(found)

    assert outcome.again is Again.CAME
    assert outcome.result.digests == found.result.digests


def test_a_finding_that_comes_again_is_noise_where_the_control_differs_from_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = iter(range(100))

    def unsteady(cassette: Cassette, side: str) -> Observation:
        seen = run_cassette(cassette, side)
        notes = [f"run {next(runs)}"] if side == "legacy" else seen.notes
        return replace(seen, notes=notes)

    found = found_by_the_fault()
    monkeypatch.setattr("harness.scenarios.again.run_cassette", unsteady)

    outcome = run_again(found)

    assert outcome.again is Again.NOISE
    assert "legacy differs from itself" in outcome.remark


def test_an_invalid_cassette_decides_nothing() -> None:
    outcome = run_again(replace(task(), document={"name": "generated/x"}))

    assert outcome.again is Again.GONE
    assert "no cassette" in outcome.remark


def test_a_byte_level_finding_that_does_not_come_again_decides_nothing() -> None:
    outcome = run_again(replace(task(), how=replace(HOW, cuts=3)))

    assert outcome.again is Again.GONE
    assert outcome.result.verdict is CaseVerdict.INCONCLUSIVE
