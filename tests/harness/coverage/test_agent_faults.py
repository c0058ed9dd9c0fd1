"""Where a fault keeps an agent from what a cassette is about, the contract's probes say so.

An agent runs in each of these runs all the same: that it did must not be taken for the behaviour.
"""

from pathlib import Path

import pytest

from harness.cassette.load import load_cassette
from harness.config import default_contract
from harness.coverage.contract import load_contract
from harness.coverage.probes import reached
from harness.faults.catalogue import faults
from harness.faults.force import in_force
from harness.replay.runner import run_cassette

CASSETTES = Path(__file__).parents[3] / "cassettes"


@pytest.mark.parametrize(
    ("behaviour", "cassette", "runtime", "fault"),
    [
        ("P-202", "subagent/thoughts", "legacy", "subagent-thoughts-untold"),
        ("P-204", "subagent/one_after_the_other", "legacy", "subagent-shared-history"),
        ("P-205", "subagent_limits/turns_recovered", "legacy", "subagent-no-grace"),
        ("P-207", "subagent_limits/stops_recovered", "legacy", "subagent-no-grace"),
        ("P-209", "subagent_limits/stops_twice", "legacy", "subagent-two-graces"),
        ("P-212", "subagent_tools/invoke_agent_listed", "legacy", "subagent-may-call-agents"),
        ("P-216", "subagent_policy/soft_no", "legacy", "subagent-no-is-abort"),
        ("P-222", "subagent_models/auto_own", "legacy", "subagent-routed-twice"),
        ("P-225", "subagent_models/threshold_lower", "legacy", "subagent-never-compressed"),
        ("P-234", "subagent/usage_not_in_parent", "legacy", "subagent-recorded-as-main"),
        ("P-246", "subagent_tools/none_listed", "legacy", "subagent-empty-list-is-all"),
    ],
)
def test_an_agent_that_ran_has_not_reached_what_a_fault_keeps_it_from(
    behaviour: str, cassette: str, runtime: str, fault: str
) -> None:
    found = load_contract(default_contract()).by_id(behaviour)
    case = load_cassette(CASSETTES / f"{cassette}.yaml", CASSETTES)
    assert found is not None
    assert behaviour in case.contract

    assert found.probes.holds(reached(run_cassette(case, runtime)))
    with in_force(faults()[fault], runtime):
        broken = reached(run_cassette(case, runtime))

    assert "child:started" in broken
    assert not found.probes.holds(broken)
