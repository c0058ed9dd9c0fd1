"""`Mutant`: one change at one place, with a fingerprint that edits elsewhere leave as it is."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.canonical import canonical, sha256_hex
from harness.mutants.operators import Change, Operator
from harness.mutants.places import Place
from harness.mutants.source import Source, edited

__all__ = ["Mutant", "mutants_at"]

_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one module."""

    fingerprint: str
    """12 hex digits over module, qualified name, statement, operator and occurrence."""
    place: Place
    change: Change

    @property
    def operator(self) -> Operator:
        """What was done."""
        return self.change.operator

    @property
    def room(self) -> str:
        """The package that it is in: `services/chat`, `runtimes/adk`."""
        parts = self.place.file.split("/")
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]

    @property
    def where(self) -> str:
        """File, line and function, for reports."""
        name = f" {self.place.qualname}" if self.place.qualname else ""
        return f"{self.place.file}:{self.place.line}{name}"

    def text(self, source: Source) -> str:
        """The whole module with the change."""
        return edited(source.text, self.change.edits)

    def diff(self, source: Source, context: int = 2) -> str:
        """The change as a unified diff."""
        lines = difflib.unified_diff(
            source.text.splitlines(),
            self.text(source).splitlines(),
            f"a/{source.file}",
            f"b/{source.file}",
            lineterm="",
            n=context,
        )
        return "\n".join(lines)


def mutants_at(
    source: Source, places: Iterable[Place]
) -> Iterator[tuple[Place, tuple[Mutant, ...]]]:
    """Yield each place with its mutants. `places` are all of the module, in their order.

    Changes that are equal in all of this are numbered, in the order of the function.
    """
    seen: Counter[str] = Counter()
    for place in places:
        found = []
        for change in place.changes:
            key = canonical([source.module, place.qualname, place.statement, change.operator.value])
            digest = sha256_hex(f"{key} {seen[key]}")[:_DIGITS]
            seen[key] += 1
            found.append(Mutant(fingerprint=digest, place=place, change=change))
        yield place, tuple(found)
