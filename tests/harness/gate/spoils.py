"""What can be wrong with evidence, thing by thing, and the reason that the gate must give."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from harness.gate.answer import ReasonKind
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
    measured,
    mutants,
    result,
    sample,
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
    broken = ProviderFinding(rule=rule, path="contents[0]", message="it is empty")
    return CommittedFinding(request=0, finding=broken, by=CommittedBy.BOTH)


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
    "a leg with too few cases of the phase itself": (
        has(gates=gates(own=("min_cases = 1", "min_cases = 1\nown_cases = 4"))),
        K.LEG_PARTIAL,
    ),
    "a leg without a case, though none is asked for": (
        lambda made: (
            made.legs.update(back=LegFile(*LEGS["back"], results={}, skipped=NAMES)),
            has(gates=gates(few=("min_cases = 1", "min_cases = 0")))(made),
        ),
        K.LEG_PARTIAL,
    ),
    "a finding that no leg settled": (
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
    "no mutants": (has(mutants=[]), K.MUTANTS_MISSING),
    "mutants of other code": (
        has(mutants=[mutants(measured=measured(components=STALE.digests))]),
        K.MUTANTS_STALE,
    ),
    "mutants with other packages": (
        has(mutants=[mutants(measured=measured(environment={"google-adk": "2.12.0"}))]),
        K.MUTANTS_STALE,
    ),
    "old mutants": (
        has(mutants=[mutants(measured=measured(asOf="2026-02-01"))]),
        K.MUTANTS_STALE,
    ),
    "mutants of another part": (has(mutants=[mutants() | {"in": ["runtimes"]}]), K.MUTANTS_MISSING),
    "a sample of mutants cut off": (has(mutants=[mutants(interrupted=True)]), K.MUTANTS_PARTIAL),
    "too few mutants": (has(mutants=[mutants(tried=7)]), K.MUTANTS_FEW),
    "too many mutants survive": (has(mutants=[mutants(survived=4)]), K.MUTANTS_LOW),
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
    "tokens in halves": (
        costs(tokens={"inputTokens": 90.5, "outputTokens": 5, "cachedTokens": 0}),
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
