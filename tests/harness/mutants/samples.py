"""Small modules for tests of mutants."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from harness.mutants.mutant import Mutant, mutants_at
from harness.mutants.places import places_of
from harness.mutants.source import Source


def mutants_of(source: Source) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its places."""
    for _, mutants in mutants_at(source, places_of(source)):
        yield from mutants


def module(text: str, name: str = "services.sample") -> Source:
    """A module of that text, indented as it may be."""
    return Source(name, f"{name.replace('.', '/')}.py", textwrap.dedent(text).lstrip("\n"))


def changed_lines(text: str, operator: str) -> list[str]:
    """Each line that a mutant of an operator adds; of several lines, joined by ` | `."""
    source = module(text)
    return [added(mutant, source) for mutant in mutants_of(source) if mutant.operator == operator]


def added(mutant: Mutant, source: Source) -> str:
    """The lines that a mutant adds, without their indentation."""
    diff = mutant.diff(source, context=0).splitlines()[3:]
    return " | ".join(line[1:].strip() for line in diff if line.startswith("+"))
