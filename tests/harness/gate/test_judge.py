"""Every condition of the gate, seen to go red: one thing is spoiled, and it is named."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.gate.answer import Answer, ReasonKind
from harness.gate.samples import counted_samples
from harness.inventory import Component, Inventory
from tests.harness.gate.green import (
    DAY,
    NAMES,
    LegFile,
    fault,
    gates,
    inventory,
    kills,
    kinds,
    measured,
    mutants,
    result,
    sample,
    spoiled,
    world,
)
from tests.harness.gate.spoils import (
    ADK,
    SPOILS,
    STALE,
    diverges,
    dropped,
    finding,
    has,
    header,
    made_in,
    measured_with,
    on_a_baseline,
    resumes_in_the_core,
    settles,
    skipped,
    unsettled,
    waived,
    waiver,
)


def test_the_whole_of_it_is_a_yes(tmp_path: Path) -> None:
    answer = world().judged(tmp_path)

    assert (answer.answer, answer.reasons) == (Answer.YES, ())
    assert {condition.name for condition in answer.conditions} == {
        "legs",
        "provider rules",
        "waivers",
        "coverage",
        "kills",
        "mutants",
        "samples",
        "cost",
    }


@pytest.mark.parametrize("spoil", SPOILS)
def test_one_thing_that_is_spoiled_is_named(spoil: str, tmp_path: Path) -> None:
    change, kind = SPOILS[spoil]

    answer = spoiled(change).judged(tmp_path)

    assert kind in kinds(answer)
    assert answer.answer is not Answer.YES
    if kind.answer is Answer.NO:
        assert answer.answer is Answer.NO
    named = next(reason for reason in answer.reasons if reason.kind is kind)
    assert named.says
    assert named.change
    assert any(
        condition.about == named.condition and condition.answer is not Answer.YES
        for condition in answer.conditions
    )


def test_every_kind_of_reason_that_evidence_can_give_is_seen_here() -> None:
    seen = {kind for _, kind in SPOILS.values()}

    assert {kind for kind in ReasonKind if not kind.name.startswith("RECORD_")} == seen


def test_what_is_judged_over_all_legs_is_not_known_where_one_lacks(tmp_path: Path) -> None:
    whole = {
        each.about: each.answer for each in world().judged(made_in(tmp_path, "whole")).conditions
    }
    less = {
        each.about: each.answer
        for each in spoiled(dropped("core")).judged(made_in(tmp_path, "less")).conditions
    }

    over_all = [
        about for about in whole if "all legs" in about or "settled" in about or "waivers" in about
    ]
    assert len(over_all) == 3
    assert {whole[about] for about in over_all} == {Answer.YES}
    assert {less[about] for about in over_all} == {Answer.UNKNOWN}


def test_a_stale_journal_does_not_count_beside_a_fresh_one(tmp_path: Path) -> None:
    made = world()
    stale = LegFile(*ADK, results={n: result(n, ADK) for n in NAMES}, inventory=STALE)
    made.legs["older"] = stale
    diverges(made, "a/one", leg="older")

    assert made.judged(tmp_path).answer is Answer.YES


def test_a_changed_third_party_runtime_makes_its_leg_and_its_sample_stale(tmp_path: Path) -> None:
    mine = Component({"mine_rt.py": "8" * 64})
    sides = ("legacy", "mine")
    made = world()
    made.gates = gates(
        leg=('control = "legacy"\ncandidate = "adk"', 'control = "legacy"\ncandidate = "mine"'),
        drawn=("examples = 100", 'examples = 100, candidate = "mine"'),
    )
    made.legs["adk"] = LegFile(
        *sides,
        results={each: result(each, sides) for each in NAMES},
        inventory=inventory(runtime_mine=mine),
    )
    components = inventory(runtime_mine=mine).digests
    made.samples = [sample(candidate="mine", measured=measured(components=components))]

    def stale(current: Inventory, folder: str) -> set[str]:
        made.current = current
        answer = made.judged(made_in(tmp_path, folder))
        return {each.about for each in answer.conditions if each.answer is Answer.UNKNOWN}

    fresh = stale(inventory(runtime_mine=mine), "fresh")
    changed = stale(inventory(runtime_mine=Component({"mine_rt.py": "9" * 64})), "changed")
    unknown = stale(inventory(), "unknown")

    assert "runtime mine" not in inventory().components
    assert "legacy ≡ adk: every case is parity" not in fresh
    assert "legacy ≡ adk: every case is parity" in changed & unknown
    assert "generated: fallback, legacy ≡ mine" not in fresh
    assert "generated: fallback, legacy ≡ mine" in changed & unknown
    assert made.gates.runtimes == (
        "upstream",
        "legacy",
        "mine",
        "legacy+legacy",
        "adk+legacy",
    )


def test_a_run_that_was_cut_off_does_not_hurt_beside_a_whole_one(tmp_path: Path) -> None:
    made = world()
    made.legs["half"] = LegFile(*ADK, results={"a/one": result("a/one", ADK)}, ended=False)

    assert made.judged(tmp_path).answer is Answer.YES


def test_a_part_of_a_run_does_not_hurt_beside_the_whole(tmp_path: Path) -> None:
    made = world()
    part = {"a/one": result("a/one", ADK)}
    made.legs["a-part"] = LegFile(*ADK, results=part, header={"shard": "1/3"})

    assert made.judged(tmp_path).answer is Answer.YES


def test_an_old_run_does_not_hurt_beside_one_of_today(tmp_path: Path) -> None:
    made = world()
    old = "2026-02-01T00:00:00+00:00"
    whole = {name: result(name, ADK) for name in NAMES}
    made.legs["a-old"] = LegFile(*ADK, results=whole, header={"started_at": old})
    made.write(tmp_path)
    spent = kills(conditions={"measured": measured(asOf="2026-02-01")})
    (tmp_path / "z-kills.json").write_text(json.dumps(spent))

    assert made.judged(tmp_path).answer is Answer.YES


def test_a_phase_that_was_run_alone_is_whole_where_nothing_else_counts(tmp_path: Path) -> None:
    made = spoiled(skipped("adk", "a/two"))
    made.legs["adk"].header["phase"] = "A"

    assert ReasonKind.LEG_PARTIAL not in kinds(made.judged(tmp_path))


def test_a_run_by_a_day_that_is_named_is_judged_by_that_day(tmp_path: Path) -> None:
    made = spoiled(header("adk", started_at="2026-04-01T00:00:00+00:00"))

    assert made.judged(tmp_path).answer is Answer.YES


def test_a_fault_that_survives_in_any_measurement_survives(tmp_path: Path) -> None:
    made = world()
    made.write(tmp_path)
    survivors = kills([fault(n, outcome="survived" if n < 4 else "killed") for n in range(8)])
    (tmp_path / "a-kills.json").write_text(json.dumps(survivors))

    assert kinds(made.judged(tmp_path)) == {ReasonKind.KILL_RATE_LOW}


def test_samples_of_mutants_with_several_seeds_count_together(tmp_path: Path) -> None:
    made = world()
    made.mutants = [mutants(survived=2), mutants(survived=0, seed=9), mutants(0, 3, seed=9)]

    (counted,) = made.judged(tmp_path).mutants

    assert (counted.seeds, counted.tried, counted.found) == ((8, 9), 16, 14)
    assert 0.61 < counted.bound < 0.66


def test_missing_mutants_are_measured_over_the_corpus(tmp_path: Path) -> None:
    made = spoiled(has(mutants=[]))

    (reason,) = made.judged(tmp_path / "a", since="main").reasons
    assert reason.change == (
        "parity mutants cassettes --in services --sample 8 --seed 8 --cases 2 --since main "
        "--json parity-report/mutants-services.json -n 0"
    )
    made.profile = "release"
    (reason,) = made.judged(tmp_path / "b", since="main", seed=77).reasons
    assert "--seed 77 --json" in reason.change


def test_the_reason_of_too_few_found_mutants_names_a_survivor(tmp_path: Path) -> None:
    (reason,) = spoiled(has(mutants=[mutants(survived=4)])).judged(tmp_path).reasons

    assert "4 of 8 found" in reason.says
    assert reason.change.endswith("parity mutants --mutant 000000000000")


def test_a_baseline_may_stand_for_its_runtime_in_a_pull_request_only(tmp_path: Path) -> None:
    made = spoiled(on_a_baseline)

    assert made.judged(tmp_path / "a").answer is Answer.YES
    made.profile = "release"
    answer = made.judged(tmp_path / "b")

    assert kinds(answer) == {ReasonKind.LEG_MISSING}
    assert "baseline" in answer.reasons[0].says


def test_a_used_waiver_is_no_reason(tmp_path: Path) -> None:
    made = spoiled(settles)

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.YES
    assert [(each.id, each.state, each.count) for each in answer.waivers] == [("w-one", "used", 1)]


def test_yesterdays_verdict_comes_again_by_its_day(tmp_path: Path) -> None:
    made = world()
    made.waivers = waived(waiver(expires=DAY), as_of=DAY)
    diverges(made, "a/one")
    assert made.judged(tmp_path).answer is Answer.YES

    later = date(2026, 3, 2)
    made.waivers, made.as_of = replace(made.waivers, as_of=later), later

    assert {ReasonKind.WAIVER_EXPIRED, ReasonKind.DIVERGENT} <= kinds(made.judged(tmp_path))


@pytest.mark.parametrize(("expires", "warned"), [((2026, 3, 14), True), ((2026, 3, 15), False)])
def test_a_waiver_is_warned_of_from_fourteen_days_before(
    expires: tuple[int, int, int], warned: bool, tmp_path: Path
) -> None:
    made = spoiled(lambda made: settles(made, expires=date(*expires)))

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.YES
    assert any("w-one ends" in remark for remark in answer.remarks) is warned


def test_a_waiver_between_other_runtimes_is_not_asked(tmp_path: Path) -> None:
    made = world()
    made.waivers = waived(waiver(between=("x", "y")))

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.YES
    assert answer.waivers[0].state == "not asked"


@pytest.mark.parametrize("scenario", ["a/two", "a/*"])
def test_a_waiver_of_cassettes_that_were_not_run_is_not_called_unused(
    scenario: str, tmp_path: Path
) -> None:
    made = world()
    made.waivers = waived(waiver(scenario=scenario))
    made.legs["adk"].results.pop("a/two")

    assert ReasonKind.WAIVER_UNUSED not in kinds(made.judged(tmp_path))


def test_what_the_upstream_leg_decides_is_settled(tmp_path: Path) -> None:
    made = spoiled(lambda made: unsettled(made, "adk"))

    assert made.judged(tmp_path).answer is Answer.YES


def test_after_a_hand_over_a_rule_that_the_core_breaks_there_is_settled(tmp_path: Path) -> None:
    made = world()
    resumes_in_the_core(made, finding())
    unsettled(made, "back")

    assert made.judged(tmp_path).answer is Answer.YES


def test_after_a_hand_over_agreement_is_enough_where_the_core_resumes_nothing(
    tmp_path: Path,
) -> None:
    made = spoiled(lambda made: unsettled(made, "back"))

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.YES
    words = "1 finding of provider rules in back.jsonl not settled: no leg resumes sessions in"
    assert any(remark.startswith(words) for remark in answer.remarks)


def test_samples_with_other_seeds_add_up(tmp_path: Path) -> None:
    made = spoiled(has(samples=[sample(drawn=60), sample(drawn=60, seed=8)]))

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.YES
    assert answer.samples[0].examples == 120
    assert answer.samples[0].seeds == (7, 8)


def test_what_is_run_again_are_the_samples_that_count(tmp_path: Path) -> None:
    made = world()
    others: list[dict[str, Any]] = [
        {"way": "search"},
        {"fault": "x"},
        {"interrupted": True},
        {"drawn": 60},
    ]
    made.samples += [sample(**each) for each in others]
    made.samples += [sample(seed=8, **measured_with(STALE)), sample(seed=9)]
    made.write(tmp_path)

    counted = counted_samples(made.scope(tmp_path))

    assert [run.file.name for run in counted] == ["sample-0.json", "sample-6.json"]


def test_a_sample_that_was_cut_off_counts_for_nothing_and_hurts_no_whole_one(
    tmp_path: Path,
) -> None:
    cut_off = sample(drawn=5000, seed=8, interrupted=True)
    made = spoiled(has(samples=[sample(), cut_off]))

    answer = made.judged(tmp_path / "a")

    assert answer.answer is Answer.YES
    assert answer.samples[0].examples == 120
    made.samples = [sample(drawn=60), cut_off]
    assert kinds(made.judged(tmp_path / "b")) == {
        ReasonKind.SAMPLE_SMALL,
        ReasonKind.SAMPLE_UNDECIDED,
    }


def test_a_held_out_fault_whose_gap_was_closed_is_not_counted_as_found(tmp_path: Path) -> None:
    made = world()
    made.profile = "release"
    assert made.judged(tmp_path / "a").answer is Answer.YES
    made.kills = kills([fault(n, closedBy="a/one" if n % 2 == 0 else None) for n in range(8)])

    answer = made.judged(tmp_path / "b")

    assert kinds(answer) == {ReasonKind.KILL_RATE_LOW}
    assert answer.reasons[0].about == "held out"


def test_too_few_faults_that_were_all_found_are_no_contradiction(tmp_path: Path) -> None:
    made = world()
    made.gates = gates(bound=("bound = 0.4, class_faults", "bound = 0.99, class_faults"))

    answer = made.judged(tmp_path)

    assert kinds(answer) == {ReasonKind.KILLS_FEW}
    assert answer.answer is Answer.UNKNOWN


def test_a_class_of_the_contract_that_the_gates_forget_must_be_reached_too(tmp_path: Path) -> None:
    made = world()
    made.gates = gates(classes=("tools = 2", "errors = 1"))

    answer = made.judged(tmp_path)

    assert [reason.about for reason in answer.reasons] == ["errors"]
    for name in NAMES:
        made.change_case("adk", name, contract=(), reached=((), ()))
    about = [reason.about for reason in made.judged(tmp_path).reasons]
    assert about == ["errors", "tools"]


def test_a_profile_need_not_ask_for_what_nothing_observes_and_says_so(tmp_path: Path) -> None:
    made = world()
    made.gates = gates(
        classes=("tools = 2", "errors = 1"),
        unobserved=("baselines = true", 'baselines = true\nunobserved = ["tools"]'),
    )
    for name in NAMES:
        made.change_case("adk", name, contract=(), reached=((), ()))

    answer = made.judged(tmp_path)

    assert [reason.about for reason in answer.reasons] == ["errors"]
    coverage = next(each for each in answer.conditions if each.name == "coverage")
    assert coverage.says.endswith("; not asked for: tools")
