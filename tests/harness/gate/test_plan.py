"""What a gate lacks, as a plan: each rule that does not hold names what would settle it."""

from pathlib import Path

import pytest

from harness.faults.catalogue import faults
from harness.gate.answer import GateAnswer, Measurement, ReasonKind
from harness.gate.evidence import read_evidence
from harness.gate.plan import in_about, needed, plan_of
from tests.harness.gate.green import World, fault, kills, result, sample, spoiled, world
from tests.harness.gate.spoils import ADK, SPOILS, STALE, dropped, has, header, of_inventory

MEASURED = {
    ReasonKind.LEG_MISSING,
    ReasonKind.LEG_STALE,
    ReasonKind.LEG_OLD,
    ReasonKind.LEG_OTHER_CORPUS,
    ReasonKind.LEG_OTHER_ENVIRONMENT,
    ReasonKind.KILLS_MISSING,
    ReasonKind.KILLS_STALE,
    ReasonKind.KILLS_PARTIAL,
    ReasonKind.KILLS_FEW,
    ReasonKind.SAMPLE_MISSING,
    ReasonKind.SAMPLE_STALE,
    ReasonKind.SAMPLE_SMALL,
}
"""What lacks, and is settled by running something."""


@pytest.mark.parametrize("spoil", [name for name, (_, kind) in SPOILS.items() if kind in MEASURED])
def test_what_lacks_names_the_measurement_that_makes_it(spoil: str, tmp_path: Path) -> None:
    change, kind = SPOILS[spoil]

    answer = spoiled(change).judged(tmp_path)

    named = next(reason for reason in answer.reasons if reason.kind is kind)
    assert named.measure is not None
    assert named.change == named.measure.command


@pytest.mark.parametrize(
    "spoil", [name for name, (_, kind) in SPOILS.items() if kind.answer.value == "no"]
)
def test_what_contradicts_is_not_measured_away(spoil: str, tmp_path: Path) -> None:
    answer = spoiled(SPOILS[spoil][0]).judged(tmp_path)

    assert needed(answer) == []


def judged_without(*legs: str, folder: Path) -> GateAnswer:
    made = world()
    for leg in legs:
        del made.legs[leg]
    return made.judged(folder)


def test_each_thing_that_lacks_is_measured_once_legs_first(tmp_path: Path) -> None:
    made = world()
    made.legs.clear()
    made.kills, made.samples = None, []

    found = needed(made.judged(tmp_path))

    assert [(each.kind, each.about, each.units) for each in found] == [
        ("leg", "upstream ≡ legacy", 3),
        ("leg", "legacy ≡ adk", 3),
        ("leg", "begun in adk", 3),
        ("faults", "seeded faults", 4),
        ("sample", "generated: fallback, legacy ≡ adk", 100),
    ]


def test_baselines_are_measured_with_where_the_profile_takes_them(tmp_path: Path) -> None:
    made = spoiled(dropped("core"))
    (asked,) = needed(made.judged(tmp_path / "a"))
    made.profile = "release"
    (released, *_) = needed(made.judged(tmp_path / "b"))

    assert (asked.control, released.control) == ("baseline:baselines/upstream", "upstream")


def test_a_release_draws_by_its_commit_and_a_pull_request_always_the_same(tmp_path: Path) -> None:
    made = spoiled(has(samples=[]))
    seeds = []
    for profile in ("pull_request", "release"):
        made.profile = profile
        (measurement,) = needed(made.judged(tmp_path / profile, seed=4711))
        seeds.append(measurement.words[measurement.words.index("--seed") + 1])

    assert seeds == ["100", "4711"]


def test_a_run_that_was_cut_off_goes_on_by_its_day_in_its_journal(tmp_path: Path) -> None:
    made = world()
    leg = made.legs["adk"]
    leg.results, leg.ended = {"a/one": result("a/one", ADK)}, False

    (measurement,) = needed(made.judged(tmp_path))

    assert measurement.resume == ("--as-of", "2026-03-01", "--resume")
    assert str(tmp_path / "adk.jsonl") in measurement.words
    assert measurement.units == 2


def test_a_part_of_a_run_is_no_run_to_go_on_with(tmp_path: Path) -> None:
    made = world()
    made.legs["adk"].results = {"a/one": result("a/one", ADK)}
    made.legs["adk"].header["shard"] = "1/3"

    (measurement,) = needed(made.judged(tmp_path))

    assert (measurement.resume, measurement.units) == ((), 3)


def test_what_is_too_old_is_not_gone_on_with_however_it_ended(tmp_path: Path) -> None:
    made = spoiled(header("adk", started_at="2026-01-01T00:00:00+00:00"))
    made.legs["adk"].results = {"a/one": result("a/one", ADK)}

    (measurement,) = needed(made.judged(tmp_path))

    assert (measurement.resume, measurement.units) == ((), 3)


def test_what_a_part_did_not_reach_is_no_reason_of_its_own(tmp_path: Path) -> None:
    made = world()
    made.legs["adk"].results = {"a/one": result("a/one", ADK)}

    answer = made.judged(tmp_path)

    (partial,) = answer.reasons[:1]
    assert ReasonKind.CLASS_UNREACHED not in {reason.kind for reason in answer.reasons}
    assert "every class is reached in both runtimes" in partial.leaves_open


def test_a_case_that_could_not_be_decided_is_not_run_again_by_itself(tmp_path: Path) -> None:
    made = world()
    made.change_case("adk", "a/one", blockers=("its worker died",))

    answer = made.judged(tmp_path)

    assert needed(answer) == []
    assert answer.reasons[0].change.endswith(f"--journal {tmp_path / 'adk.jsonl'} -n 0")


def test_a_sample_of_faults_that_is_too_small_is_followed_by_all_of_them(tmp_path: Path) -> None:
    few = kills([fault(n) for n in range(3)])
    few["conditions"]["sample"] = {"size": 3, "of": 500, "seed": 1}

    (measurement,) = needed(spoiled(has(kills=few)).judged(tmp_path))

    assert "--sample" not in measurement.words
    assert measurement.units == len(faults())


def leg(**changes: object) -> Measurement:
    values: dict[str, object] = {
        "kind": "leg",
        "about": "it",
        "words": ("run",),
        "control": "legacy",
        "candidate": "adk",
        "units": 100,
    }
    return Measurement.model_validate(values | changes)


def seconds(measurement: Measurement, made: World, folder: Path, jobs: int = 1) -> float:
    made.write(folder)
    return plan_of([measurement], read_evidence([folder]), jobs)[0].seconds


def test_a_leg_takes_as_long_as_its_last_journal_says_be_it_stale(tmp_path: Path) -> None:
    stale = spoiled(of_inventory("adk", STALE))

    recorded = seconds(leg(), stale, tmp_path / "a")  # a millisecond for each case
    usual = seconds(leg(), spoiled(dropped("adk")), tmp_path / "b")

    assert recorded == pytest.approx(3.1)
    assert usual > 10


def test_more_workers_take_less_and_never_more_than_there_are_cases(tmp_path: Path) -> None:
    made = spoiled(dropped("adk"))

    one, two, many = (seconds(leg(units=2), made, tmp_path, jobs) for jobs in (1, 2, 99))

    assert one > two == many


def test_the_published_core_takes_longest_and_a_baseline_least(tmp_path: Path) -> None:
    made = world()
    made.legs.clear()
    sides = ("baseline:baselines/upstream", "legacy", "upstream")

    took = [seconds(leg(control=side), made, tmp_path) for side in sides]

    assert took == sorted(took)
    assert len(set(took)) == 3


IN_WORDS = {0: "10s", 11: "20s", 50: "50s", 51: "1m", 61: "2m", 3540: "59m", 3541: "1h"}
IN_WORDS |= {3601: "1h05m", 7260: "2h05m"}


@pytest.mark.parametrize(("took", "words"), IN_WORDS.items())
def test_an_estimate_claims_no_more_than_it_can(took: float, words: str) -> None:
    assert in_about(took) == words


def test_a_sample_is_drawn_whole_where_it_was_cut_off(tmp_path: Path) -> None:
    (measurement,) = needed(spoiled(has(samples=[sample(interrupted=True)])).judged(tmp_path))

    assert (measurement.kind, measurement.units) == ("sample", 100)
