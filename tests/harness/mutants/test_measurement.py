"""Which runs of a mutant a measurement makes."""

import pytest

from harness.mutants.measurement import spread

RUNS = [(number, "legacy") for number in range(100)]


def test_few_runs_are_all_made_in_their_order() -> None:
    assert spread(RUNS, 100) == RUNS


@pytest.mark.parametrize("most", [0, 1, 2, 7, 10, 99])
def test_no_more_runs_are_made_than_asked_for(most: int) -> None:
    chosen = spread(RUNS, most)

    assert len(set(chosen)) == most
    assert list(chosen) == sorted(chosen)


def test_half_of_the_runs_are_the_first_and_the_others_are_spread() -> None:
    chosen = [number for number, _ in spread(RUNS, 10)]

    assert chosen == [0, 1, 2, 3, 4, 5, 24, 43, 62, 81]
