import pytest

from harness.scenarios.generation import Again, Generation, Outcome, block_tasks, upper_bound
from tests.harness.scenarios.made_up import done, finding, plan


def test_blocks_are_cut_from_the_examples_the_last_one_shorter() -> None:
    tasks = list(block_tasks(plan(examples=60), lambda: False, lambda number: frozenset()))

    assert [(task.number, task.examples) for task in tasks] == [(0, 25), (1, 25), (2, 10)]


def test_blocks_that_are_done_are_passed_over_and_their_examples_counted() -> None:
    tasks = block_tasks(plan(examples=60), lambda: False, lambda number: frozenset(), done={0, 2})

    assert [(task.number, task.examples) for task in tasks] == [(1, 25)]


def test_no_block_is_begun_once_it_is_enough() -> None:
    begun: list[int] = []
    tasks = block_tasks(plan(examples=None), lambda: len(begun) == 3, lambda _: frozenset())

    begun.extend(task.number for task in tasks)

    assert begun == [0, 1, 2]


def test_a_finding_belongs_to_the_earliest_block() -> None:
    generation = Generation()

    assert [each.block for each in generation.add(done(2, finding(2)))] == [2]
    assert [each.block for each in generation.add(done(1, finding(1)))] == [1]
    assert generation.add(done(3, finding(3))) == []
    (kept,) = generation.findings.values()
    assert kept.block == 1
    assert generation.seen[kept.fingerprint] == 6


def test_a_block_mutes_the_findings_of_earlier_blocks_only() -> None:
    generation = Generation()
    generation.add(done(2, finding(2)))

    assert generation.known_before(2) == frozenset()
    assert generation.known_before(3) == {finding(2).fingerprint}


def test_the_digest_goes_by_the_order_of_blocks_not_by_who_was_first() -> None:
    one, other = Generation(), Generation()
    for number in (0, 1):
        one.add(done(number))
        other.add(done(1 - number))

    assert one.digest == other.digest
    other.add(done(2))
    assert one.digest != other.digest


def test_the_latest_result_of_a_finding_counts() -> None:
    generation, found = Generation(), finding()
    generation.add(done(0, found))
    assert generation.result_of(found.fingerprint) is found.result

    later = finding(label="message").result
    generation.outcomes[found.fingerprint] = Outcome(again=Again.NOISE, result=later)
    assert generation.result_of(found.fingerprint) is later


@pytest.mark.parametrize(
    "change",
    [
        {"way": "search"},
        {"profile": "aborts"},
        {"seed": 2},
        {"examples": 50},
        {"examples": None},
        {"candidate": "upstream"},
        {"fault": "x"},
    ],
)
def test_plans_that_draw_or_compare_otherwise_have_other_digests(change: dict[str, object]) -> None:
    assert plan(**change).digest != plan().digest


def test_the_bound_is_the_exact_one_and_near_three_in_n() -> None:
    assert upper_bound(1) == pytest.approx(0.95)
    assert (1 - upper_bound(59)) ** 59 == pytest.approx(0.05)
    assert upper_bound(3000) == pytest.approx(0.001, rel=0.01)
    assert upper_bound(0) == 1.0


def test_the_command_draws_the_same_again() -> None:
    words = plan(fault="some-fault", examples=None).command(50)

    assert words[:3] == ["parity", "generate", "--sample"]
    assert "--examples 50" in " ".join(words)
    assert words[-2:] == ["--fault", "some-fault"]
