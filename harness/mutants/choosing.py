"""Which cases a mutant is run with, and in which order."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from harness.mutants.mutant import Mutant
from harness.mutants.places import Place
from harness.mutants.reach import has_line
from harness.mutants.result import Finding
from harness.mutants.source import Source
from harness.mutants.store import RUNTIMES, RunFacts

__all__ = ["FoundBefore", "Reach", "owner_of"]

Run = tuple[int, str]
"""Number of a case, and a runtime."""

_FIXED_S: Final = 0.02
"""What a run costs besides what it took when it was measured."""


@dataclass(frozen=True)
class Reach:
    """What the good runs of all cases execute.

    Attributes:
        facts: by the case's number, runtime to what its run reached.
        sources: the modules in which names are looked up.
    """

    facts: Sequence[Mapping[str, RunFacts]]
    sources: Sequence[Source]

    def runs(self, mutant: Mutant) -> list[Run]:
        """The runs that execute the mutant, legacy's first; none, and it is unreached."""
        place = mutant.place
        owner = owner_of(place)
        runtimes = RUNTIMES if owner == "services" else (owner,)
        spans = self._spans(place)
        return [
            (number, runtime)
            for runtime in runtimes
            for number, facts in enumerate(self.facts)
            if any(has_line(facts[runtime].lines, file, span) for file, span in spans)
        ]

    def ordered(self, mutant: Mutant, before: FoundBefore) -> list[Run]:
        """The runs of a mutant, in the order in which they are made.

        Those come first that found mutants near it, then those that do most in its module for their
        cost. Runs that execute the same lines of the module resemble each other: the first run of
        every such group comes before the second one of any.
        """
        file = mutant.place.file
        turns: Counter[tuple[str, int]] = Counter()

        def lines(run: Run) -> int:
            return self.facts[run[0]][run[1]].lines.get(file, 0)

        def worth(run: Run) -> float:
            return lines(run).bit_count() / (self.facts[run[0]][run[1]].seconds + _FIXED_S)

        def rank(run: Run) -> tuple[int, int, int]:
            group = run[1], lines(run)
            turns[group] += 1
            return RUNTIMES.index(run[1]), -before.count(mutant, run[0]), turns[group]

        return sorted(sorted(self.runs(mutant), key=worth, reverse=True), key=rank)

    def _spans(self, place: Place) -> list[tuple[str, tuple[int, int]]]:
        """Lines of files; a case that executes any of them executes the place or uses its value."""
        if not place.imported or place.statement.startswith("def "):
            return [(place.file, place.lines)]
        return self._users(place.names)

    def _users(self, names: frozenset[str]) -> list[tuple[str, tuple[int, int]]]:
        """Where functions name what is made when a module is imported, or what is made of that."""
        known = set(names)
        waiting = list(names)
        while waiting:
            for name in self._named.made_with[waiting.pop()] - known:
                known.add(name)
                waiting.append(name)
        lines = {use for name in known for use in self._named.used[name]}
        return [(file, (line, line)) for file, line in sorted(lines)]

    @cached_property
    def _named(self) -> _Named:
        named = _Named()
        for source in self.sources:
            named.read(source.file, source.tree.body)
        return named


@dataclass(slots=True)
class _Named:
    """Where names stand, over all modules; two things of one name count as one."""

    used: defaultdict[str, set[tuple[str, int]]] = field(default_factory=lambda: defaultdict(set))
    """Name to the places in functions where it stands: file and line."""
    made_with: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Name to what is bound by a statement in which it stands, at import."""

    def read(self, file: str, body: Iterable[ast.stmt]) -> None:
        """Take in the statements of a module or a class."""
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for each in node.body:
                    for name, line in _names(each):
                        self.used[name].add((file, line))
            elif isinstance(node, ast.ClassDef):
                self.read(file, node.body)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                found = list(_names(node))
                bound = {name for name, _ in _names(*_targets(node))}
                for name, _ in found:
                    self.made_with[name] |= bound


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


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _names(*nodes: ast.AST) -> Iterable[tuple[str, int]]:
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name):
                yield node.id, node.lineno
            elif isinstance(node, ast.Attribute):
                yield node.attr, node.lineno
            elif isinstance(node, ast.keyword) and node.arg:
                yield node.arg, node.lineno
