"""Weights that lead drawn scenarios to a part of the source which they seldom execute.

Some scenarios are drawn and run while their lines are traced. A scenario scores for each line of
the part that it executes, and the more, the fewer other scenarios execute that line. An option of
the grammar gets more weight if scenarios with it score above the average, and less if below.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from harness.cassette.load import build_cassette
from harness.detection.playing import play
from harness.errors import HarnessError, UsageError
from harness.mutants.population import Population
from harness.mutants.reach import Lines, executed
from harness.mutants.source import CODE_ROOT
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.document import scenario
from harness.scenarios.profiles import Profile
from services.wire import JsonObject

__all__ = [
    "SCENARIOS",
    "NotingChooser",
    "Weights",
    "lines_executed",
    "weights_of",
    "weights_toward",
]

Weights: TypeAlias = Mapping[str, Mapping[str, int]]
"""Choice → option → weight, as in `Profile.weights`."""

SCENARIOS: Final = 120
"""How many scenarios are drawn to find the weights."""
_ROOT: Final = Path("generated")
"""The root of drawn cassettes; no such folder is read or written."""
_SEED: Final = 0
_MOST: Final = 3.0
"""A weight is multiplied by this at most, and divided by it at most."""
_PER_MILLE: Final = 1000
_CHANCES: Final = "chances"
_TRACED: Final = ("runtimes", "services")


class NotingChooser(Chooser):
    """A chooser that notes each weighted choice: the weights in force, and the options taken."""

    def __init__(self, whole: Callable[[int, int], int], weights: Weights) -> None:
        super().__init__(whole, weights)
        self._overridden = weights
        self.offered: dict[str, dict[str, int]] = {}
        self.taken: set[tuple[str, str]] = set()

    def chance(self, name: str, per_mille: int) -> bool:
        """Note the chance and whether it came."""
        wanted = self._overridden.get(_CHANCES, {}).get(name, per_mille)
        self.offered.setdefault(_CHANCES, {})[name] = wanted
        came = super().chance(name, per_mille)
        if came:
            self.taken.add((_CHANCES, name))
        return came

    def option(self, name: str, options: Mapping[str, int]) -> str:
        """Note the option that is taken."""
        changed = self._overridden.get(name, {})
        self.offered[name] = {each: changed.get(each, weight) for each, weight in options.items()}
        taken = super().option(name, options)
        self.taken.add((name, taken))
        return taken


@dataclass(slots=True)
class _Tried:
    """A drawn scenario: the options that it took, and the lines of the part that it executed."""

    taken: frozenset[tuple[str, str]]
    lines: frozenset[tuple[str, int]] = field(default_factory=frozenset)


def weights_toward(place: str, profile: Profile, scenarios: int = SCENARIOS) -> Weights:
    """The weights of a profile, changed so that its scenarios execute more of a part.

    Args:
        place: A file or folder below `runtimes/legacy`, `runtimes/adk` or `services`.
        profile: The profile to start from.
        scenarios: How many scenarios to draw and run; they are the same for the same code.

    Raises:
        UsageError: There is no such part, or no scenario executes any of it.
    """
    population = Population.of(CODE_ROOT, [place])
    lines = {
        (each.file, line)
        for each, _ in population.places
        if not each.imported
        for line in range(each.lines[0], each.lines[1] + 1)
    }
    runtime = "adk" if population.parts[0].startswith("runtimes/adk") else "legacy"
    offered: dict[str, dict[str, int]] = {}
    tried: list[_Tried] = []
    rng = random.Random(_SEED)  # noqa: S311 - a draw that can be made again
    for _ in range(scenarios):
        chooser = NotingChooser(rng.randint, profile.weights)
        document = scenario(chooser, "generated/scenario")
        for name, options in chooser.offered.items():
            offered.setdefault(name, {}).update(options)
        reached = frozenset(lines & set(lines_executed(document, runtime)))
        tried.append(_Tried(frozenset(chooser.taken), reached))
    if not any(each.lines for each in tried):
        problem = f"none of {scenarios} scenarios of profile {profile.name} executes {place}"
        raise UsageError(problem, "choose another profile, or write a cassette that reaches it")
    return weights_of(offered, [(each.taken, each.lines) for each in tried], profile.weights)


def weights_of(
    offered: Weights,
    tried: Sequence[tuple[frozenset[tuple[str, str]], frozenset[tuple[str, int]]]],
    base: Weights,
) -> Weights:
    """Weigh the offered options by the scores of the scenarios that took them.

    Args:
        offered: Choice → option → its weight so far.
        tried: For each scenario, the options that it took and the lines that it executed.
        base: Weights that stay where nothing is offered.
    """
    common = Counter(line for _, lines in tried for line in lines)
    scores = [sum(1 / common[line] for line in lines) for _, lines in tried]
    average = sum(scores) / len(scores)
    of_option: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for (taken, _), score in zip(tried, scores, strict=True):
        for each in taken:
            of_option[each].append(score)
    weights = {name: dict(options) for name, options in base.items()}
    for name, options in offered.items():
        for option, weight in options.items():
            # One more scenario of average score: an option that was taken once proves little.
            found = of_option[name, option]
            lift = (sum(found) + average) / (len(found) + 1) / average
            changed = _changed(weight, min(_MOST, max(1 / _MOST, lift)), name == _CHANCES)
            weights.setdefault(name, {})[option] = changed
    return weights


def _changed(weight: int, lift: float, is_chance: bool) -> int:
    """A weight times `lift`. What never came does not come now; what always came still does."""
    if weight <= 0 or (is_chance and weight >= _PER_MILLE):
        return weight
    changed = max(1, round(weight * lift))
    return min(changed, _PER_MILLE - 1) if is_chance else changed


def lines_executed(document: JsonObject, runtime: str) -> Iterator[tuple[str, int]]:
    """The lines that a scenario executes; none where it cannot be played."""
    try:
        cassette = build_cassette(document, _ROOT / f"{document['name']}.yaml", _ROOT)
        with executed(CODE_ROOT, _TRACED) as found:
            play(cassette, runtime)
    except HarnessError:
        return iter(())
    return _pairs(found)


def _pairs(lines: Lines) -> Iterator[tuple[str, int]]:
    for file, bits in lines.items():
        yield from ((file, line) for line in range(bits.bit_length()) if bits >> line & 1)
