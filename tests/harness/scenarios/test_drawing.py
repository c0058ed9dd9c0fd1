import importlib
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.scenarios.drawing import DrawnScenario, Way, block_seed, draw_block
from harness.scenarios.profiles import PROFILES

PROFILE = PROFILES["everything"]
WAYS: tuple[Way, ...] = ("search", "sample")


def drawn(way: Way, seed: int, examples: int = 8, profile: str = "everything") -> list[str]:
    found: list[str] = []
    draw_block(
        way,
        PROFILES[profile],
        seed,
        examples,
        lambda scenario: found.append(str(scenario.document["name"])),
    )
    return found


@pytest.mark.parametrize("way", WAYS)
def test_the_same_seed_draws_the_same_scenarios(way: Way) -> None:
    assert drawn(way, 5) == drawn(way, 5)
    assert drawn(way, 5) != drawn(way, 6)


@pytest.mark.parametrize("way", WAYS)
def test_a_block_draws_the_requested_number_of_examples(way: Way) -> None:
    assert len(drawn(way, 5, 9)) == 9


def test_a_sample_does_not_count_the_plainest_example_of_hypothesis() -> None:
    choices: list[tuple[int, ...]] = []
    draw_block("sample", PROFILE, 1, 5, lambda scenario: choices.append(scenario.choices))

    assert len(choices) == 5
    assert all(any(each) for each in choices)


def test_a_longer_sample_begins_with_the_shorter_one() -> None:
    assert drawn("sample", 5, 9)[:4] == drawn("sample", 5, 4)


@pytest.mark.slow
def test_a_sample_draws_evenly_whatever_came_before() -> None:
    first: list[int] = []
    after_low: list[int] = []

    def look_at(scenario: DrawnScenario) -> None:
        first.append(scenario.choices[0])
        if len(first) > 1 and first[-2] < 50:
            after_low.append(first[-1])

    draw_block("sample", PROFILE, 3, 300, look_at)

    spread = Counter(number * 4 // (max(first) + 1) for number in first)
    assert min(spread.values()) > 45  # of 75 expected in each quarter
    low = sum(number < max(first) / 2 for number in after_low) / len(after_low)
    assert 0.35 < low < 0.65


def test_blocks_profiles_and_numbers_have_seeds_of_their_own() -> None:
    seeds = {
        block_seed(seed, profile, number)
        for seed in (1, 2)
        for profile in PROFILES.values()
        for number in (0, 1)
    }

    assert len(seeds) == 4 * len(PROFILES)


def test_imported_modules_do_not_change_the_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn("search", 5, 25)
    numbers = ", ".join(map(str, range(1000)))
    tmp_path.joinpath("full_of_numbers.py").write_text(f"NUMBERS = ({numbers})\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("full_of_numbers")
    try:
        assert drawn("search", 5, 25) == before
    finally:
        del sys.modules["full_of_numbers"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_an_error_of_the_callback_ends_the_drawing(way: Way, kind: type[BaseException]) -> None:
    looks = 0

    def look_at(scenario: DrawnScenario) -> None:
        nonlocal looks
        looks += 1
        raise kind("stop")

    with pytest.raises(kind):
        draw_block(way, PROFILE, 1, 5, look_at)

    assert looks == 1
