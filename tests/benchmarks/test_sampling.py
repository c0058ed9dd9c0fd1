from __future__ import annotations

import gc

import pytest

from benchmarks.sampling import across, gc_paused, median_of, sample, typical


def test_typical_is_the_lower_quartile_whatever_the_order() -> None:
    assert typical({"a": [8.0, 1.0, 100.0, 2.0, 3.0, 90.0, 4.0, 5.0], "b": [7.0]}) == {
        "a": 3.0,
        "b": 7.0,
    }


def test_median_of_repeats_goes_name_by_name() -> None:
    assert median_of([{"a": 1.0, "b": 9.0}, {"a": 5.0, "b": 7.0}, {"a": 2.0, "b": 8.0}]) == {
        "a": 2.0,
        "b": 8.0,
    }


def test_ratio_is_taken_within_each_repeat() -> None:
    repeats = [{"a": 2.0, "b": 1.0}, {"a": 30.0, "b": 10.0}, {"a": 4.0, "b": 4.0}]

    assert across(repeats, lambda each: each["a"] / each["b"]) == (2.0, "1.00 to 3.00 in 3")


def test_one_repeat_has_no_spread() -> None:
    assert across([{"a": 2.0}], lambda each: each["a"]) == (2.0, "")


class Recorder:
    def __init__(self, name: str, order: list[str]) -> None:
        self.name = name
        self.order = order
        self.collecting = False

    async def turn(self) -> None:
        self.order.append(self.name)
        self.collecting = self.collecting or gc.isenabled()


async def test_sample_visits_subjects_by_turns_and_leaves_out_the_first_of_a_visit() -> None:
    order: list[str] = []
    subjects = {name: Recorder(name, order) for name in ("a", "b")}

    taken = await sample(subjects, visits=2, block=2)

    assert "".join(order) == "aaabbbbbbaaa"
    assert {name: len(values) for name, values in taken.items()} == {"a": 4, "b": 4}
    assert not any(subject.collecting for subject in subjects.values())


@pytest.mark.parametrize("was_on", [True, False])
def test_collecting_is_afterwards_as_it_was(was_on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with gc_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_collecting_comes_back_after_a_failure() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), gc_paused():
        _ = 1 // 0
    assert gc.isenabled()
