from dataclasses import replace
from typing import Any

import pytest

from harness.parity.verdict import CaseVerdict
from harness.scenarios.block import BlockDone, BlockTask, drawn_in, run_block
from harness.scenarios.byte_level import fits_bytes
from harness.scenarios.drawing import Way
from harness.scenarios.trial import UNDECIDED
from tests.harness.scenarios.made_up import WAIVERS, finding

DROPPED = "usage-dropped"


def task(**changes: Any) -> BlockTask:
    given: dict[str, Any] = {
        "way": "sample",
        "profile": "everything",
        "seed": 3,
        "number": 0,
        "examples": 10,
        "control": "legacy",
        "candidate": "adk",
        "waivers": WAIVERS,
    }
    return BlockTask(**{**given, **changes})


@pytest.fixture(scope="module")
def broken() -> BlockDone:
    return run_block(task(fault=DROPPED))


@pytest.mark.parametrize("way", ["search", "sample"])
@pytest.mark.slow
def test_a_block_is_the_same_on_every_worker(way: Way) -> None:
    one, other = run_block(task(way=way)), run_block(task(way=way))

    assert one.digest == other.digest
    assert one.examples == other.examples == 10
    assert one.reached == other.reached
    assert one.reached["event:agent_end"] == 10 - one.repeated


def test_generation_finds_a_seeded_fault_and_nothing_without_it(broken: BlockDone) -> None:
    assert broken.findings
    assert run_block(task()).findings == []


def test_muting_changes_what_is_kept_and_not_what_is_drawn(broken: BlockDone) -> None:
    muted = run_block(task(fault=DROPPED, muted=frozenset(broken.seen)))

    assert muted.digest == broken.digest
    assert muted.seen == broken.seen
    assert muted.findings == []


@pytest.mark.slow
def test_one_example_is_run_alone_all_are_drawn(broken: BlockDone) -> None:
    parts = [run_block(task(fault=DROPPED, only=index)) for index in range(10)]

    assert {part.digest for part in parts} == {broken.digest}
    assert sum((part.seen for part in parts), start=type(broken.seen)()) == broken.seen
    assert any(not part.seen for part in parts)


def test_the_scenarios_of_a_block_can_be_listed_without_running_them(broken: BlockDone) -> None:
    names = [scenario.document["name"] for scenario in drawn_in(task(fault=DROPPED))]

    assert len(names) == 10
    assert broken.findings[0].result.cassette in names


def test_an_error_of_the_harness_is_a_finding_and_the_block_continues() -> None:
    done = run_block(task(candidate="absent", examples=3))

    assert done.examples == 3
    (found,) = done.findings
    assert found.fingerprint.startswith(UNDECIDED)
    assert found.result.verdict is CaseVerdict.INCONCLUSIVE
    assert done.seen[found.fingerprint] == 3


def test_the_first_late_example_that_fits_goes_over_bytes_too() -> None:
    late = task(examples=20, number=1)
    fit = [fits_bytes(scenario.document) for scenario in drawn_in(late)]
    chosen = next(index for index in range(12, 20) if fit[index])
    tried = (11, chosen, chosen + 1)

    assert [run_block(replace(late, only=index)).over_bytes for index in tried] == [0, 1, 0]
    assert run_block(replace(late, only=chosen, fault=DROPPED)).over_bytes == 0


def test_a_block_is_read_back_as_it_was_written() -> None:
    done = BlockDone(number=4, examples=25, digest="d", findings=[finding(4)], lost="why")
    done.seen["x"] += 2
    done.unsettled["call-unanswered"] += 1

    assert BlockDone.from_json(done.to_json()) == done
