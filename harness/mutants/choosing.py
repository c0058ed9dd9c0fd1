"""Which cases a mutant is run with, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, zip_longest

from harness.mutants.checks import judged_by
from harness.mutants.mutant import Mutant
from harness.mutants.naming import Names, Span
from harness.mutants.places import Place
from harness.mutants.reach import Lines, has_line
from harness.mutants.result import Finding
from harness.mutants.source import Source
from harness.mutants.spread import FIXED_S, spread
from harness.mutants.store import RUNTIMES, RunFacts
from harness.mutants.wording import Wording

__all__ = ["FoundBefore", "Reach", "owner_of"]

Run = tuple[int, str]
"""Number of a case, and a runtime."""


@dataclass(frozen=True)
class Reach:
    """What the good runs of all cases execute.

    Attributes:
        facts: by the case's number, runtime to what its run reached.
        sources: the modules in which names are looked up.
        checks: a check of the suite to what it executes.
        words: by the case's number, the words of its file; none where they are not known.
    """

    facts: Sequence[Mapping[str, RunFacts]]
    sources: Sequence[Source]
    checks: Mapping[str, Lines] = field(default_factory=dict)
    words: Sequence[frozenset[str]] = ()

    def runs(self, mutant: Mutant) -> list[Run]:
        """The runs that execute the mutant, legacy's first; none, and it is unreached."""
        place = mutant.place
        owner = owner_of(place)
        runtimes = RUNTIMES if owner == "services" else (owner,)
        needed = self._needed(place)
        return [
            (number, runtime)
            for runtime in runtimes
            for number, facts in enumerate(self.facts)
            if all(_any_line(facts[runtime].lines, spans) for spans in needed)
        ]

    def checks_of(self, mutant: Mutant) -> list[str]:
        """The checks that execute the mutant, those that do most in its module first."""
        place = mutant.place
        needed = self._needed(place)
        reached = [
            name
            for name, lines in self.checks.items()
            if place.file.startswith(f"{judged_by(name)}/")
            and all(_any_line(lines, spans) for spans in needed)
        ]
        return sorted(reached, key=lambda name: -self.checks[name].get(place.file, 0).bit_count())

    def ordered(self, mutant: Mutant, before: FoundBefore) -> list[Run]:
        """The runs of a mutant, in the order in which they are made.

        Those come first that found mutants near it, then those that do most in its module for their
        cost. Runs that execute the same lines of the module resemble each other: the first run of
        every such group comes before the second one of any. In a group those come first that
        differ most in what they do elsewhere (`spread`). Every second run is the next of those
        whose case speaks most of the mutant's statement (`wording`). Of what is bound at import,
        such as a member of an enum, those come before others that name it.
        """
        file = mutant.place.file
        namers = self._named.namers(mutant.place) if mutant.place.imported else set()
        turns: Counter[tuple[str, int]] = Counter()
        turn: dict[Run, int] = {}
        runs = sorted(self.runs(mutant), key=lambda run: self._spread[run[1]][run[0]])

        def lines(run: Run) -> int:
            return self.facts[run[0]][run[1]].lines.get(file, 0)

        def worth(run: Run) -> float:
            return lines(run).bit_count() / (self.facts[run[0]][run[1]].seconds + FIXED_S)

        def rank(run: Run) -> tuple[int, int, bool, int, float]:
            found = before.count(mutant, run[0])
            other = not _any_line(self.facts[run[0]][run[1]].lines, namers)
            return RUNTIMES.index(run[1]), -found, other, turn[run], -worth(run)

        for run in runs:
            group = run[1], lines(run)
            turns[group] += 1
            turn[run] = turns[group]
        ordered = sorted(runs, key=rank)
        return (
            _alternating(ordered, self._speaking(mutant.place, ordered)) if self.words else ordered
        )

    def _speaking(self, place: Place, runs: Sequence[Run]) -> list[Run]:
        """The runs again, those first whose case shares most with the statement at a place."""
        scores = self._wording.scores(f"{place.file} {place.qualname} {place.statement}")
        return sorted(runs, key=lambda run: (RUNTIMES.index(run[1]), -scores[run[0]]))

    def _needed(self, place: Place) -> list[set[Span]]:
        """Lines of files; a run that reaches the place executes one of each set."""
        if not place.imported or place.statement.startswith("def "):
            return [{(place.file, place.lines)}]
        return self._named.readers(place)

    @cached_property
    def _spread(self) -> Mapping[str, Mapping[int, int]]:
        """By runtime, the place of each case in the order of `spread`."""
        found: dict[str, dict[int, int]] = {}
        for runtime in RUNTIMES:
            numbers = [number for number, facts in enumerate(self.facts) if runtime in facts]
            runs = [self.facts[number][runtime] for number in numbers]
            order = spread([(run.lines, run.seconds) for run in runs])
            found[runtime] = {numbers[index]: place for place, index in enumerate(order)}
        return found

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self.words)

    @cached_property
    def _named(self) -> Names:
        named = Names()
        for source in self.sources:
            named.read(source.file, source.tree.body)
        return named


@dataclass(slots=True)
class FoundBefore:
    """How many mutants of a function and of a module each case has found."""

    functions: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    modules: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, mutant: Mutant, finding: Finding, number: int) -> None:
        """Take in a finding of the case of that number."""
        place = mutant.place
        self.functions[place.file, place.qualname, number] += 1
        self.modules[place.file, number] += 1

    def count(self, mutant: Mutant, number: int) -> int:
        """A case's mutants near this one; those of the same function count a hundred times."""
        place = mutant.place
        function = self.functions[place.file, place.qualname, number]
        return 100 * function + self.modules[place.file, number]


def owner_of(place: Place) -> str:
    """`legacy`, `adk` or `services`: what a place is of."""
    parts = place.file.split("/")
    return parts[1] if parts[0] == "runtimes" else parts[0]


def _alternating(ones: Sequence[Run], others: Sequence[Run]) -> list[Run]:
    """The first of one order, the first of the other, the second of one, each run once."""
    pairs = zip_longest(ones, others)
    return list(dict.fromkeys(run for run in chain.from_iterable(pairs) if run is not None))


def _any_line(lines: Lines, spans: Iterable[Span]) -> bool:
    return any(has_line(lines, file, span) for file, span in spans)
