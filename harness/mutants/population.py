"""All mutants of the checkout: which modules they are of, and how a sample is drawn."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.mutants.mutant import Mutant, mutants_at
from harness.mutants.places import Place, places_of
from harness.mutants.source import Source
from harness.mutants.store import RUNTIMES
from parity import short_name
from runtimes.registry import runtime_traits

__all__ = ["ROOMS", "Population", "drawn", "every_source", "plays"]

ROOMS: Final = {
    "runtimes": ("runtimes/legacy", "runtimes/adk"),
    "services": ("services",),
}
"""What `--in` calls the parts that are mutated."""
_RUN: Final = ("agent_protocol", "harness", "runtimes", "services", "surfaces")
_CATALOGUE: Final = "faults"
"""The folder of seeded faults, beside what they break."""
_PLAYS: Final = re.compile(
    r"services/(model/replay/(generator|matching|response_shape|steps)|providers/((wire|gemini)/\w+|(\w+/)?dialect))\.py"
)
"""Modules of `services` that play a cassette's answers. They are a part of the harness: no product
runs them, and what they do wrong breaks the case instead of showing in it."""
_WEIGHT: Final = 8
"""How much likelier a place of a changed file is to be drawn than another."""


def plays(file: str) -> bool:
    """Whether the module at this path in the checkout, with `/`, only plays cassettes."""
    return _PLAYS.fullmatch(file) is not None


@dataclass(frozen=True)
class Population:
    """The mutants of some modules.

    Attributes:
        root: the checkout.
        parts: folders or files below it, with `/`.
    """

    root: Path
    parts: tuple[str, ...]

    @classmethod
    def of(cls, root: Path, asked: Collection[str]) -> Population:
        """What the names in `asked` mean: those of `ROOMS`, or paths below the checkout.

        Raises:
            UsageError: nothing that can be mutated is there.
        """
        every = tuple(part for parts in ROOMS.values() for part in parts)
        parts: list[str] = []
        for name in asked:
            found = ROOMS.get(name.rstrip("/")) or _below(root, name, every)
            if not found:
                mend = f"name {', '.join(ROOMS)}, or a path below {', '.join(every)}"
                raise UsageError(f"nothing to mutate is at {name!r}", mend)
            parts.extend(found)
        return cls(root, tuple(dict.fromkeys(parts or every)))

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """The modules, sorted by file."""
        files: set[Path] = set()
        for part in self.parts:
            place = self.root / part
            files.update([place] if place.is_file() else place.rglob("*.py"))
        sources = (Source.read(self.root, file) for file in sorted(filter(self._is_product, files)))
        return tuple(source for source in sources if source.module not in _inspectors())

    def _is_product(self, file: Path) -> bool:
        place = file.relative_to(self.root)
        return _CATALOGUE not in place.parts and not plays(place.as_posix())

    @cached_property
    def places(self) -> tuple[tuple[Place, tuple[Mutant, ...]], ...]:
        """Every place with its mutants."""
        return tuple(
            found for source in self.sources for found in mutants_at(source, places_of(source))
        )

    @property
    def mutants(self) -> Iterator[Mutant]:
        """Every mutant, place by place."""
        return (mutant for _, mutants in self.places for mutant in mutants)

    def source(self, mutant: Mutant) -> Source:
        """The module that a mutant is of."""
        return next(each for each in self.sources if each.file == mutant.place.file)


def every_source(root: Path) -> tuple[Source, ...]:
    """All modules that a run of a case may execute, mutated or not, without the seeded faults."""
    files = sorted(file for part in _RUN for file in (root / part).rglob("*.py"))
    return tuple(Source.read(root, file) for file in files if _CATALOGUE not in file.parts)


def drawn(
    places: Sequence[tuple[Place, tuple[Mutant, ...]]],
    rng: random.Random,
    changed: Collection[str] = (),
) -> Iterator[Mutant]:
    """Yield one mutant of each place, in random order.

    Each place is as likely as another to come early; one of the files in `changed` is several times
    as likely. A place gets a key `u ** (1 / weight)`, and they come by falling key (Efraimidis and
    Spirakis, "Weighted random sampling with a reservoir", 2006).
    """
    keyed = []
    for number, (place, mutants) in enumerate(places):
        weight = _WEIGHT if place.file in changed else 1
        key = rng.random() ** (1 / weight)
        keyed.append((-key, number, mutants[rng.randrange(len(mutants))]))
    return (mutant for _, _, mutant in sorted(keyed, key=lambda each: each[:2]))


def _inspectors() -> set[str]:
    """The modules that check a runtime while the corpus is played (`RuntimeTraits.inspected`).

    They are instruments of the harness: where a runtime keeps their rules, no run can show that one
    of them is checked less strictly. Their own tests break each rule.
    """
    return {short_name(runtime_traits(name).inspected.partition(":")[0]) for name in RUNTIMES}


def _below(root: Path, name: str, parts: Sequence[str]) -> tuple[str, ...]:
    """The path as one below the checkout, if it lies in what is mutated."""
    for place in (Path(name).absolute(), root / name):
        if place.exists() and place.is_relative_to(root):
            inner = place.relative_to(root).as_posix()
            if any(inner == part or inner.startswith(f"{part}/") for part in parts):
                return (inner,)
    return ()
