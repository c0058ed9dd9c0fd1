import random

from harness.mutants.spread import spread


def test_each_run_adds_what_those_before_it_did_not_execute() -> None:
    runs = [
        ({"a": 0b0110}, 1.0),
        ({"a": 0b1111}, 1.0),
        ({"b": 0b0100}, 1.0),
        ({"a": 0b1111, "b": 0b0011}, 1.0),
    ]

    assert spread(runs) == [3, 2, 1, 0]


def test_lines_of_the_same_numbers_in_two_files_are_two() -> None:
    assert spread([({"a": 0b1}, 1.0), ({"a": 0b11}, 1.0), ({"b": 0b1}, 1.0)]) == [1, 2, 0]


def test_a_run_that_costs_much_comes_later() -> None:
    assert spread([({"a": 0b111}, 9.0), ({"a": 0b11}, 0.1)]) == [1, 0]


def test_every_run_comes_once() -> None:
    chance = random.Random(3)
    runs = [({"a": chance.getrandbits(9), "b": chance.getrandbits(30)}, 0.1) for _ in range(60)]
    runs += [({}, 0.1), ({"a": 0}, 0.1)]

    assert sorted(spread(runs)) == list(range(len(runs)))
    assert spread([]) == []
