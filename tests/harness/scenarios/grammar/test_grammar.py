"""The grammar can draw every option of every choice, and every draw is a cassette."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from harness.cassette.load import build_cassette
from harness.replay.runner import run_cassette
from harness.replay.settings import missing_features
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.document import scenario
from harness.scenarios.grammar.texts import cut
from harness.scenarios.grammar.tool_calls import FILES, MID_TOKENS, SIZED_BY
from harness.scenarios.profiles import PROFILES
from runtimes.features import BUILT
from services.model.tokens import estimate_tokens

T = TypeVar("T")
Choice = tuple[str, Any]
"""The place of a choice, and the chosen option."""

ROOT = Path("generated")
WIDE = 12
"""Only the ends of a range with more numbers than this are tried."""


class Watched(Chooser):
    """Draws given numbers, then the plainest; records the choices and their options."""

    def __init__(self, numbers: Sequence[int], weights: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__(self._next, weights)
        self._numbers = list(numbers)
        self.drawn: list[int] = []
        self.places: list[tuple[str, int, int, int]] = []
        """For each number: the choice, its range, and the number's index."""
        self.taken: set[Choice] = set()
        self._name = ""

    def _next(self, low: int, high: int) -> int:
        place = len(self.drawn)
        value = self._numbers[place] if place < len(self._numbers) else low
        assert low <= value <= high
        self.drawn.append(value)
        self.places.append((self._name, low, high, place))
        return value

    def whole(self, low: int, high: int) -> int:
        return self._named(f"whole {_caller()}", lambda: super(Watched, self).whole(low, high))

    def among(self, options: Sequence[T]) -> T:
        name = f"among {_caller()} {options!r:.60}"
        return self._named(name, lambda: super(Watched, self).among(options))

    def chance(self, name: str, per_mille: int) -> bool:
        chosen = self._named(f"chance {name}", lambda: super(Watched, self).chance(name, per_mille))
        self.taken.add((name, chosen))
        return chosen

    def option(self, name: str, options: Mapping[str, int]) -> str:
        chosen = self._named(f"option {name}", lambda: super(Watched, self).option(name, options))
        self.taken.add((name, chosen))
        self.taken |= {(f"options of {name}", each) for each in options}
        return chosen

    def _named(self, name: str, choose: Callable[[], T]) -> T:
        outermost = not self._name
        self._name = self._name or name
        try:
            return choose()
        finally:
            if outermost:
                self._name = ""


def _caller() -> str:
    frame = sys._getframe(2)
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def drawn(
    numbers: Sequence[int], weights: Mapping[str, Mapping[str, int]]
) -> tuple[dict[str, Any], Watched]:
    chooser = Watched(numbers, weights)
    return scenario(chooser, "generated/x"), chooser


def explored(weights: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[dict[str, Any], Watched]]:
    """Scenarios in which each choice takes each of its options at least once."""
    seen: set[tuple[str, int]] = set()
    waiting: list[list[int]] = [[]]
    while waiting:
        document, chooser = drawn(waiting.pop(), weights)
        yield document, chooser
        for name, low, high, place in chooser.places:
            seen.add((name, chooser.drawn[place]))
            for value in _worth_trying(name, low, high):
                if (name, value) not in seen:
                    seen.add((name, value))
                    waiting.append([*chooser.drawn[:place], value])


def _worth_trying(name: str, low: int, high: int) -> range | tuple[int, ...]:
    if name.startswith("chance "):
        return (low, high)
    return range(low, high + 1) if name.startswith("option ") or high - low <= WIDE else (low, high)


@pytest.mark.parametrize(
    ("profile", "never"),
    [
        ("everything", {"set_distillation", "nulls", "agents", "surface"}),
        ("subagents", {"set_distillation", "nulls", "surface"}),
        ("interactive", {"set_distillation", "nulls", "agents"}),
    ],
)
@pytest.mark.slow
def test_every_option_of_every_choice_is_reached_and_makes_a_cassette(
    profile: str, never: set[str]
) -> None:
    taken: set[Choice] = set()
    names: set[str] = set()
    for document, chooser in explored(PROFILES[profile].weights):
        cassette = build_cassette(document, ROOT / "x.yaml", ROOT)
        assert missing_features(cassette, BUILT) == []
        taken |= chooser.taken
        names |= {name for name, *_ in chooser.places}
    prefix = "options of "
    offered = {(place[len(prefix) :], each) for place, each in taken if place.startswith(prefix)}
    assert offered <= taken
    chances = {name for name, value in taken if isinstance(value, bool)}
    assert {name for name in chances if (name, True) not in taken} == never
    assert len(names) > 120


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.sampled(5)
def test_what_a_profile_draws_is_a_cassette_that_this_build_can_play(profile: str) -> None:
    for seed in range(40):
        document = scenario(_random_chooser(seed, PROFILES[profile].weights), "generated/x")
        assert missing_features(build_cassette(document, ROOT / "x.yaml", ROOT), BUILT) == []


def test_nothing_chosen_is_the_plainest_scenario() -> None:
    document, chooser = drawn([], {})
    assert set(chooser.drawn) <= {0, 1}
    assert document["session"] == {"model": "gemini-2.5-flash", "approval_mode": "yolo"}
    assert document["script"] == [{"send": "go"}]
    assert "during" not in document
    assert "answers" not in document
    first, second = document["model"][:2]
    assert first["stream"][0]["candidates"][0]["content"]["parts"] == [{"text": "ok"}]
    assert first["stream"][0]["candidates"][0]["finishReason"] == "STOP"
    assert len(first["stream"]) == 1
    assert second == {"text": "Nothing more to say.", "role": "main", "repeat": 12}


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "everything"])
@pytest.mark.sampled(3)
def test_a_profile_shifts_each_weight_that_it_names(profile: str) -> None:
    weights = PROFILES[profile].weights
    plain, shifted = _frequencies({}), _frequencies(weights)
    for name, changed in weights.items():
        for option in changed:
            key = (option, True) if name == "chances" else (name, option)
            assert shifted[key] != plain[key], f"{profile}: {key} is never drawn"
    # A profile raises some chances on purpose.
    most = max(weights["chances"], key=lambda chance: weights["chances"][chance])
    assert shifted[most, True] > plain[most, True]


def test_profiles_name_choices_that_there_are() -> None:
    known: set[Choice] = set()
    for _, chooser in explored(
        {"chances": {"set_distillation": 500, "nulls": 500, "surface": 500}}
    ):
        known |= chooser.taken
    for profile in PROFILES.values():
        for name, changed in profile.weights.items():
            for option in changed:
                key = (option, False) if name == "chances" else (f"options of {name}", option)
                assert key in known, f"{profile.name}: there is no {name} {option}"


def test_texts_are_cut_between_any_two_code_points() -> None:
    text = "e\u0301\U0001f469\u200d\U0001f4bb"
    found: set[tuple[str, ...]] = set()
    for seed in range(300):
        pieces = cut(_random_chooser(seed, {"chances": {"cut": 700}}), text)
        assert "".join(pieces) == text
        found.add(tuple(pieces))
    assert {len(pieces[0]) for pieces in found} == {1, 2, 3, 4, 5}
    assert max(map(len, found)) == 5


def test_arguments_are_streamed_by_newer_models_only() -> None:
    streaming: Counter[str] = Counter()
    weights = {"chances": {"partial_args": 1000, "round": 999}}
    for seed in range(150):
        document = scenario(_random_chooser(seed, weights), "generated/x")
        if "partialArgs" in repr(document["model"]):
            streaming[document["session"]["model"]] += 1
    assert streaming
    assert all("gemini-3" in model for model in streaming)


def test_the_sizes_that_thresholds_are_drawn_around_are_those_of_the_tools() -> None:
    command = f"printf '%0{SIZED_BY[0] - 74}d' 0"
    calls = [
        {"name": "read_file", "args": {"file_path": "mid.txt"}},
        {"name": "run_shell_command", "args": {"command": command}},
    ]
    content = {"role": "model", "parts": [{"functionCall": call} for call in calls]}
    document = {
        "cassette": 1,
        "name": "generated/x",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "files": FILES,
        "script": [{"send": "go"}],
        "model": [
            {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]},
            {"text": "ok"},
        ],
    }
    seen = run_cassette(build_cassette(document, ROOT / "x.yaml", ROOT), "legacy")
    read, shell = seen.transcript[-2]["parts"]
    assert estimate_tokens([read]) == MID_TOKENS
    assert len(shell["functionResponse"]["response"]["output"]) == SIZED_BY[0]


def _random_chooser(seed: int, weights: Mapping[str, Mapping[str, int]]) -> Chooser:
    return Chooser(random.Random(seed).randint, weights)


class Counting(Chooser):
    """Counts what is chosen."""

    def __init__(self, seed: int, weights: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__(random.Random(seed).randint, weights)
        self.counted: Counter[Choice] = Counter()

    def chance(self, name: str, per_mille: int) -> bool:
        chosen = super().chance(name, per_mille)
        self.counted[name, chosen] += 1
        return chosen

    def option(self, name: str, options: Mapping[str, int]) -> str:
        chosen = super().option(name, options)
        self.counted[name, chosen] += 1
        return chosen


def _frequencies(weights: Mapping[str, Mapping[str, int]]) -> Mapping[Choice, float]:
    """The rate at which each option of a choice was taken."""
    counted: Counter[Choice] = Counter()
    for seed in range(150):
        chooser = Counting(seed, weights)
        scenario(chooser, "generated/x")
        counted += chooser.counted
    made: Counter[str] = Counter()
    for (name, _), times in counted.items():
        made[name] += times
    shares = {key: times / made[key[0]] for key, times in counted.items()}
    return defaultdict(float, shares)
