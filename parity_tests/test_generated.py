"""Generated scenarios: a few of each profile, and some of a state machine.

`parity generate` draws them by the thousand; these tests show that it works.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from harness.cassette.load import load_cassette
from harness.explain import explain
from harness.scenarios.block import BlockTask, run_block
from harness.scenarios.drawing import Way
from harness.scenarios.found import FOUND, read_found
from harness.scenarios.judging import Judging
from harness.scenarios.profiles import PROFILES
from parity_tests.agreement import SETTINGS, agreement
from parity_tests.corpus import WAIVERS

SIDES: Final = ("legacy", "adk")
FAULT: Final = "usage-dropped"


def block(way: Way, profile: str, examples: int, fault: str | None = None) -> BlockTask:
    return BlockTask(
        way=way,
        profile=profile,
        seed=2026,
        number=0,
        examples=examples,
        control=SIDES[0],
        candidate=SIDES[1],
        waivers=WAIVERS,
        fault=fault,
    )


def judging(fault: str | None = None) -> Judging:
    return Judging(control=SIDES[0], candidate=SIDES[1], waivers=WAIVERS, fault=fault)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("way", ["search", "sample"])
@pytest.mark.slow
def test_both_runtimes_agree_on_what_is_drawn(way: Way, profile: str) -> None:
    done = run_block(block(way, profile, 2))

    assert [line for each in done.findings for line in explain(each.result, *SIDES)] == []
    assert done.examples == 2


def test_a_seeded_fault_is_found_in_what_is_drawn() -> None:
    done = run_block(block("sample", "everything", 8, FAULT))

    assert done.findings


def test_both_runtimes_agree_on_what_the_machine_writes() -> None:
    run_state_machine_as_test(agreement(judging(), FOUND), settings=SETTINGS)


def test_a_seeded_fault_is_found_by_the_machine_and_kept_as_a_cassette(tmp_path: Path) -> None:
    machine = agreement(judging(FAULT), tmp_path)

    with pytest.raises(AssertionError, match="kept in"):
        # Ends at the first; so many that none of them showing it is out of the question.
        run_state_machine_as_test(machine, settings=settings(SETTINGS, max_examples=200))

    known = read_found(tmp_path)
    assert known
    for each in known:
        cassette = load_cassette(each.file, tmp_path)
        again = judging(FAULT).judge({**cassette.document, "name": cassette.name})
        assert again.fingerprint == each.fingerprint
        assert judging().judge(cassette.document).fingerprint is None
