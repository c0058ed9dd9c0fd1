"""Every condition of the gate, seen to go red: one thing is spoiled, and it is named."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from harness.gate.answer import Answer, ReasonKind
from harness.gate.samples import counted_samples
from harness.inventory import Component, Inventory
from harness.parity.provider import CommittedBy, CommittedFinding
from harness.parity.verdict import Noise
from harness.parity.waivers import Waiver, Waivers
from harness.provider.rules import ProviderFinding
from tests.harness.gate.green import (
    COST,
    DAY,
    LEGS,
    NAMES,
    LegFile,
    World,
    divergence,
    fault,
    gates,
    inventory,
    kills,
    kinds,
    measured,
    result,
    sample,
    spoiled,
    world,
)

ADK = ("legacy", "adk")
OTHER = Component({"services/file.py": "9" * 64})
STALE = inventory(services=OTHER)


def waiver(**changes: object) -> Waiver:
    values: dict[str, object] = {
        "id": "w-one",
        "between": ("legacy", "adk"),
        "scenario": "a/*",
        "channel": "events",
        "path": "text",
        "control": "a",
        "candidate": "b",
        "impact": "nothing that shows",
        "reason": "for now",
        "owner": "adk-runtime",
        "expires": date(2026, 12, 31),
        "max_count": 2,
    }
    return Waiver.model_validate(values | changes)


def waived(*entries: Waiver, as_of: date = DAY) -> Waivers:
    return Waivers(entries=entries, as_of=as_of)


def diverges(made: World, *names: str, leg: str = "adk") -> None:
    for name in names:
        made.change_case(leg, name, divergences=(divergence(name),))


def finding(rule: str = "text-empty") -> CommittedFinding:
    told = ProviderFinding(rule=rule, path="contents[0]", message="it is empty")
    return CommittedFinding(request=0, finding=told, by=CommittedBy.BOTH)


def settles(made: World, **changes: object) -> None:
    made.waivers = waived(waiver(**changes))
    diverges(made, "a/one")


def unsettled(made: World, leg: str, **of_core: object) -> None:
    made.change_case(leg, "a/one", unsettled=(finding(),))
    if of_core:
        made.change_case("core", "a/one", **of_core)


def resumes_in_the_core(made: World, *found: CommittedFinding) -> None:
    """Ask for a leg in which the published core resumes sessions, and add it."""
    leg = """
[[phase.A.leg]]
name = "resumed by the core"
control = "upstream+upstream"
candidate = "legacy+legacy"
min_cases = 1
profiles = ["pull_request"]

[phase.A.pull_request]"""
    made.gates = gates(leg=("[phase.A.pull_request]", leg))
    sides = ("upstream+upstream", "legacy+legacy")
    case = result("a/one", sides, unsettled=found)
    made.legs["resumed"] = LegFile(*sides, results={"a/one": case}, skipped=NAMES[1:])


def made_in(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made


def dropped(leg: str) -> Callable[[World], object]:
    return lambda made: made.legs.pop(leg)


def header(leg: str, **changes: object) -> Callable[[World], object]:
    return lambda made: made.legs[leg].header.update(changes)


def skipped(leg: str, name: str) -> Callable[[World], object]:
    def spoil(made: World) -> None:
        del made.legs[leg].results[name]
        made.legs[leg].skipped = (name,)
        made.gates = gates(few=("min_cases = 3", "min_cases = 2"))

    return spoil


def of_inventory(leg: str, held: Inventory) -> Callable[[World], object]:
    return lambda made: setattr(made.legs[leg], "inventory", held)


def has(**changes: object) -> Callable[[World], object]:
    def spoil(made: World) -> None:
        for name, value in changes.items():
            setattr(made, name, value)

    return spoil


def costs(**changes: object) -> Callable[[World], object]:
    return lambda made: made.change_case("adk", "a/one", cost=(COST, {**COST, **changes}))


def measured_with(held: Inventory) -> dict[str, object]:
    return {"measured": measured(components=held.digests)}


def a_run_again_that_diverges(made: World) -> None:
    made.legs["again"] = LegFile(*ADK, results={n: result(n, ADK) for n in NAMES})
    diverges(made, "a/two", leg="again")


def on_a_baseline(made: World) -> None:
    made.legs["core"].control = "baseline:baselines/upstream"


K = ReasonKind
SPOILS: dict[str, tuple[Callable[[World], object], ReasonKind]] = {
    "no upstream leg": (dropped("core"), K.LEG_MISSING),
    "no leg between the runtimes": (dropped("adk"), K.LEG_MISSING),
    "no reversible leg": (dropped("back"), K.LEG_MISSING),
    "no journal at all": (lambda made: made.legs.clear(), K.LEG_MISSING),
    "a leg of another version of the core": (
        header("core", control="upstream@0.1.0"),
        K.LEG_MISSING,
    ),
    "one divergence": (lambda made: diverges(made, "a/two"), K.DIVERGENT),
    "one divergence after a hand-over": (
        lambda made: diverges(made, "a/one", leg="back"),
        K.DIVERGENT,
    ),
    "one divergence in a second run": (a_run_again_that_diverges, K.DIVERGENT),
    "a channel cut": (
        lambda made: made.change_case("adk", "a/one", cut=(divergence("a/one").channel,)),
        K.DIVERGENT,
    ),
    "a case that could not be decided": (
        lambda made: made.change_case("adk", "a/one", blockers=("the run stalled",)),
        K.INCONCLUSIVE,
    ),
    "a case that killed its worker": (
        lambda made: made.change_case("core", "a/one", blockers=("died",), phase=None),
        K.INCONCLUSIVE,
    ),
    "a candidate's doubt": (
        lambda made: made.change_case("adk", "a/one", doubts=("a step was left over",)),
        K.INCONCLUSIVE,
    ),
    "a noisy control": (
        lambda made: made.change_case(
            "adk", "a/one", blockers=("noise",), noise=(Noise(place="events", hides=1),)
        ),
        K.INCONCLUSIVE,
    ),
    "a run without its end": (
        lambda made: setattr(made.legs["adk"], "ended", False),
        K.LEG_PARTIAL,
    ),
    "a run cut off": (lambda made: made.legs["adk"].results.pop("a/two"), K.LEG_PARTIAL),
    "a shard": (header("adk", shard="1/1"), K.LEG_PARTIAL),
    "too few cases": (
        lambda made: [
            made.change_case(leg, "a/two", phase="C", contract=("P-001",))
            for leg in ("core", "adk")
        ],
        K.LEG_PARTIAL,
    ),
    "a leg of other code": (of_inventory("adk", STALE), K.LEG_STALE),
    "code that moved on": (has(current=STALE), K.LEG_STALE),
    "a leg of other baselines": (
        of_inventory("core", inventory(baselines=OTHER)),
        K.LEG_STALE,
    ),
    "a leg of another server beside the cassettes": (
        of_inventory("adk", inventory(corpus_helpers=OTHER)),
        K.LEG_STALE,
    ),
    "a leg of another corpus": (
        of_inventory("adk", inventory(corpus=Component(dict.fromkeys(NAMES, "8" * 64)))),
        K.LEG_OTHER_CORPUS,
    ),
    "an old leg": (header("adk", started_at="2026-02-01T00:00:00+00:00"), K.LEG_OLD),
    "a leg of no day": (header("adk", started_at="soon"), K.LEG_OLD),
    "a leg with other packages": (
        header("adk", environment={"python": "3.11", "google-adk": "2.12.0"}),
        K.LEG_OTHER_ENVIRONMENT,
    ),
    "legs with other packages than are here": (
        has(environment={"python": "3.12", "google-adk": "2.14.0"}),
        K.LEG_OTHER_ENVIRONMENT,
    ),
    "a leg of a day to come": (
        header("adk", started_at="9999-12-31T00:00:00+00:00", as_of="9999-12-31"),
        K.LEG_OLD,
    ),
    "a case that is said to be skipped": (skipped("adk", "a/two"), K.LEG_PARTIAL),
    "a leg of another phase alone": (
        lambda made: (skipped("adk", "a/two")(made), header("adk", phase="B")(made)),
        K.LEG_PARTIAL,
    ),
    "a leg without a case, though none is asked for": (
        lambda made: (
            made.legs.update(back=LegFile(*LEGS["back"], results={}, skipped=NAMES)),
            has(gates=gates(few=("min_cases = 1", "min_cases = 0")))(made),
        ),
        K.LEG_PARTIAL,
    ),
    "a finding that nobody settled": (
        lambda made: unsettled(made, "core"),
        K.UNSETTLED,
    ),
    "a finding whose case upstream did not decide": (
        lambda made: unsettled(made, "adk", blockers=("stalled",)),
        K.UNSETTLED,
    ),
    "a finding after a hand-over that upstream does not have": (
        lambda made: (resumes_in_the_core(made), unsettled(made, "back")),
        K.UNSETTLED,
    ),
    "a class that nothing reached": (
        lambda made: [made.change_case("adk", name, reached=((), ())) for name in NAMES],
        K.CLASS_UNREACHED,
    ),
    "a class reached in the control alone": (
        lambda made: [
            made.change_case("adk", name, reached=(("tool:one", "tool:two"), ())) for name in NAMES
        ],
        K.CLASS_UNREACHED,
    ),
    "a class reached by the way": (
        lambda made: [made.change_case("adk", name, contract=()) for name in NAMES],
        K.CLASS_UNREACHED,
    ),
    "a class reached too seldom": (
        lambda made: [made.change_case("adk", name, contract=()) for name in ("a/one", "a/two")],
        K.CLASS_UNREACHED,
    ),
    "a declared behaviour that does not show": (
        lambda made: made.change_case(
            "adk", "a/one", reached=(("tool:one", "tool:two"), ("tool:one",))
        ),
        K.BEHAVIOUR_UNREACHED,
    ),
    "a declared behaviour that there is not": (
        lambda made: made.change_case("adk", "a/one", contract=("P-001", "P-999")),
        K.BEHAVIOUR_UNREACHED,
    ),
    "no kill matrix": (has(kills=None), K.KILLS_MISSING),
    "a kill matrix of other code": (
        has(kills=kills(conditions=measured_with(STALE))),
        K.KILLS_STALE,
    ),
    "a kill matrix of another catalogue": (
        has(kills=kills(conditions=measured_with(inventory(fault_catalogue=OTHER)))),
        K.KILLS_STALE,
    ),
    "a kill matrix of other waivers": (
        has(kills=kills(conditions=measured_with(inventory(waivers=OTHER)))),
        K.KILLS_STALE,
    ),
    "an old kill matrix": (
        has(kills=kills(conditions={"measured": measured(asOf="2026-02-01")})),
        K.KILLS_STALE,
    ),
    "a kill matrix of a day to come": (
        has(kills=kills(conditions={"measured": measured(asOf="9999-01-01")})),
        K.KILLS_STALE,
    ),
    "a kill matrix with other packages": (
        has(kills=kills(conditions={"measured": measured(environment={"google-adk": "2.12.0"})})),
        K.KILLS_STALE,
    ),
    "a kill matrix cut off": (has(kills=kills(interrupted=True)), K.KILLS_PARTIAL),
    "too many survivors": (
        has(kills=kills([fault(n, outcome="survived" if n < 4 else "killed") for n in range(8)])),
        K.KILL_RATE_LOW,
    ),
    "too few faults": (has(kills=kills([fault(n) for n in range(3)])), K.KILLS_FEW),
    "too few faults, however good their share": (
        has(
            kills=kills([fault(n) for n in range(3)]),
            gates=gates(
                a=("bound = 0.4, class_f", "bound = 0.0, class_f"),
                b=("class_bound = 0.4", "class_bound = 0.0"),
            ),
        ),
        K.KILLS_FEW,
    ),
    "none of a class": (
        has(kills=kills([fault(n, **{"class": "hooks"}) for n in range(8)])),
        K.KILLS_FEW,
    ),
    "unobservable faults only": (
        has(kills=kills([fault(n, outcome="unobservable") for n in range(8)])),
        K.KILLS_FEW,
    ),
    "no sample": (has(samples=[]), K.SAMPLE_MISSING),
    "a sample of another profile": (
        has(samples=[sample(profile="masking")]),
        K.SAMPLE_MISSING,
    ),
    "a search instead of a sample": (has(samples=[sample(way="search")]), K.SAMPLE_MISSING),
    "a sample with a fault put in": (has(samples=[sample(fault="x")]), K.SAMPLE_MISSING),
    "a sample of other code": (has(samples=[sample(**measured_with(STALE))]), K.SAMPLE_STALE),
    "a sample of other waivers": (
        has(samples=[sample(**measured_with(inventory(waivers=OTHER)))]),
        K.SAMPLE_STALE,
    ),
    "a sample with other weights": (has(samples=[sample(profileDigest="0")]), K.SAMPLE_STALE),
    "an old sample": (
        has(samples=[sample(measured=measured(asOf="2026-02-01"))]),
        K.SAMPLE_STALE,
    ),
    "a sample with other packages": (
        has(samples=[sample(measured=measured(environment={"google-adk": "2.12.0"}))]),
        K.SAMPLE_STALE,
    ),
    "too few examples": (has(samples=[sample(drawn=99)]), K.SAMPLE_SMALL),
    "the same examples twice": (
        has(samples=[sample(drawn=60), sample(drawn=60)]),
        K.SAMPLE_SMALL,
    ),
    "a finding in a sample": (
        has(samples=[sample(verdict="findings", findings=[{"fingerprint": "f1"}])]),
        K.SAMPLE_FINDINGS,
    ),
    "a finding in a second sample": (
        has(
            samples=[
                sample(),
                sample(seed=8, verdict="findings", known=[{"fingerprint": "f1"}]),
            ]
        ),
        K.SAMPLE_FINDINGS,
    ),
    "an undecided sample": (has(samples=[sample(verdict="undecided")]), K.SAMPLE_UNDECIDED),
    "an interrupted sample": (has(samples=[sample(interrupted=True)]), K.SAMPLE_UNDECIDED),
    "an expired waiver": (
        lambda made: settles(made, expires=date(2026, 2, 28)),
        K.WAIVER_EXPIRED,
    ),
    "an expired waiver that no leg speaks of": (
        has(waivers=waived(waiver(between=("x", "y"), expires=date(2026, 2, 28)))),
        K.WAIVER_EXPIRED,
    ),
    "an unused waiver": (has(waivers=waived(waiver())), K.WAIVER_UNUSED),
    "a waiver of cassettes that there are not": (
        has(waivers=waived(waiver(scenario="gone/*"))),
        K.WAIVER_UNUSED,
    ),
    "an exceeded waiver": (
        lambda made: (settles(made, max_count=1), diverges(made, "a/two")),
        K.WAIVER_EXCEEDED,
    ),
    "too many waivers": (
        lambda made: setattr(
            made, "waivers", waived(*(waiver(id=f"w-{n}", between=("x", "y")) for n in range(3)))
        ),
        K.WAIVERS_TOO_MANY,
    ),
    "more model calls": (costs(modelCalls={"generateContentStream(main)": 3}), K.COST_ABOVE),
    "more tokens": (
        costs(tokens={"inputTokens": 90, "outputTokens": 5, "cachedTokens": 0}),
        K.COST_ABOVE,
    ),
    "a prefix that changes": (costs(contentsSentBefore=1), K.COST_ABOVE),
    "a cost that is not known": (
        lambda made: made.change_case("adk", "a/one", cost=None),
        K.COST_UNKNOWN,
    ),
    "a cost that is none": (costs(modelCalls={"x": "many"}), K.COST_UNKNOWN),
    "a cost beyond all numbers": (costs(modelCalls={"x": 10**400}), K.COST_UNKNOWN),
}


def test_the_whole_of_it_is_a_yes(tmp_path: Path) -> None:
    answer = world().judged(tmp_path)

    assert (answer.answer, answer.reasons) == (Answer.YES, ())
    assert {condition.name for condition in answer.conditions} == {
        "legs",
        "provider rules",
        "waivers",
        "coverage",
        "kills",
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
    told = "1 finding of provider rules in back.jsonl not settled: no leg resumes sessions in"
    assert any(remark.startswith(told) for remark in answer.remarks)


def test_samples_with_other_seeds_add_up(tmp_path: Path) -> None:
    made = spoiled(has(samples=[sample(drawn=60), sample(drawn=60, seed=8)]))

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.YES
    assert answer.samples[0].examples == 120
    assert answer.samples[0].seeds == (7, 8)


def test_what_is_run_again_are_the_samples_that_count(tmp_path: Path) -> None:
    made = world()
    others = [{"way": "search"}, {"fault": "x"}, {"interrupted": True}, {"drawn": 60}]
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
