"""Weights that lead drawn scenarios to a part of the source."""

from __future__ import annotations

import random

import pytest

from harness.errors import UsageError
from harness.generating.toward import NotingChooser, lines_executed, weights_of, weights_toward
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.document import scenario
from harness.scenarios.profiles import PROFILES, Profile

OFFERED = {"tool": {"read": 10, "write": 20, "never": 0}, "chances": {"fault": 100, "round": 1000}}
A, B = ("a.py", 1), ("a.py", 2)


def taken(*options: tuple[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(options)


def test_options_of_scenarios_that_execute_the_part_gain_weight_and_others_lose_it() -> None:
    with_read = (taken(("tool", "read"), ("chances", "fault")), frozenset([A]))
    with_write = (taken(("tool", "write")), frozenset[tuple[str, int]]())

    weights = weights_of(OFFERED, [with_read] * 3 + [with_write] * 3, {})

    assert weights["tool"]["read"] > 10
    assert 0 < weights["tool"]["write"] < 20
    assert weights["chances"]["fault"] > 100


def test_a_line_that_few_scenarios_execute_counts_more() -> None:
    common = (taken(("tool", "write")), frozenset([A]))
    rare = (taken(("tool", "read")), frozenset([A, B]))

    weights = weights_of(OFFERED, [common] * 9 + [rare], {})

    assert weights["tool"]["read"] > 10
    assert weights["tool"]["write"] < 20


def test_no_weight_changes_more_than_threefold_and_what_never_comes_never_does() -> None:
    one = (taken(("tool", "read"), ("chances", "round")), frozenset([A]))
    none = (taken(("tool", "write")), frozenset[tuple[str, int]]())

    weights = weights_of(OFFERED, [one] * 5 + [none] * 500, {})

    assert weights["tool"] == {"read": 30, "write": 7, "never": 0}
    assert weights["chances"] == {"fault": 100, "round": 1000}


def test_weights_of_choices_that_were_not_offered_stay() -> None:
    base = {"model": {"pro": 40}}

    assert weights_of(OFFERED, [(taken(), frozenset([A]))], base)["model"] == {"pro": 40}


def test_noting_choices_draws_the_same_scenario() -> None:
    weights = PROFILES["fallback"].weights
    plain = scenario(Chooser(random.Random(3).randint, weights), "generated/x")
    chooser = NotingChooser(random.Random(3).randint, weights)

    assert scenario(chooser, "generated/x") == plain
    assert chooser.offered["chances"]["fault"] == 450
    assert all(option in chooser.offered[name] for name, option in chooser.taken)


def test_a_part_that_no_scenario_executes_is_refused() -> None:
    with pytest.raises(UsageError, match="none of 2 scenarios of profile everything executes"):
        weights_toward("services/subagents/remote/chunks.py", PROFILES["everything"], 2)


def test_what_is_not_mutated_is_no_part() -> None:
    with pytest.raises(UsageError, match="nothing to mutate is at 'harness'"):
        weights_toward("harness", PROFILES["everything"], 1)


@pytest.mark.slow
def test_scenarios_drawn_toward_a_part_execute_more_of_it() -> None:
    part = "services/availability/fallback.py"
    everything = PROFILES["everything"]
    changed = weights_toward(part, everything, 60)

    assert share(part, Profile(name="x", about="", weights=changed)) > 1.5 * share(part, everything)


def share(part: str, profile: Profile) -> float:
    """The share of 30 other scenarios that executes the part."""
    rng = random.Random(99)
    drawn = [scenario(Chooser(rng.randint, profile.weights), "generated/x") for _ in range(30)]
    return (
        sum(any(file == part for file, _ in lines_executed(each, "legacy")) for each in drawn) / 60
    )
