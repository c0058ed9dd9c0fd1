"""Which runs of unchanged code would compute another value with a mutant ("weak mutation").

A mutant can show only in a run in which its place computes what it does not compute without it: in
most runs `a < b` and `a <= b` are the same. Where the values of the unchanged code say so (a
`Probe`), they are looked at once for all mutants of a sample. Where they do not, a run counts.
See W. E. Howden, "Weak mutation testing and completeness of test sets", IEEE TSE 8(4), 1982.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from harness.mutants.mutant import Mutant
from harness.mutants.operators import Probe, Watch
from harness.mutants.patching import Exchange, LiveCode, Text, exchanges, put_in
from harness.mutants.source import CODE_ROOT, Source
from parity import BUILTINS, own_name

__all__ = ["NAME", "Looks", "Probes", "has_probe", "instrumented", "looked_at"]

NAME: Final = "__parity_probe__"
"""What instrumented code calls; it is put among the built-in names of a forked process."""

_PLAIN: Final = (type(None), bool, int, float, str, bytes, frozenset)
"""Types of values that are the same if they are equal: nothing can change one of them later."""
_COLLECTIONS: Final = (dict, list, set, deque)
_MISSING: Final = object()


@dataclass(frozen=True)
class Probes:
    """The probes of a sample's mutants.

    Attributes:
        mutants: those that have one; their numbers are what runs note.
    """

    mutants: Sequence[Mutant]

    def exchanges(
        self, source_of: Callable[[str], Source], live: LiveCode
    ) -> tuple[list[Exchange], set[int]]:
        """What puts the probes into this process, and the numbers of those that cannot be put in.

        A function whose probes cannot be put in together has none.
        """
        found: list[Exchange] = []
        unknown: set[int] = set()
        functions: dict[tuple[str, str], list[int]] = {}
        for number, mutant in enumerate(self.mutants):
            key = mutant.place.file, mutant.place.function
            functions.setdefault(key, []).append(number)
        for (file, function), numbers in functions.items():
            source = source_of(file)
            probes = {number: self.mutants[number].change.probe for number in numbers}
            changed = instrumented(source.text, probes)
            text = Text(own_name(source.module), CODE_ROOT / file, source.text, changed)
            try:
                exchanged = exchanges(text, function, live)
            except SyntaxError:
                exchanged = None
            if exchanged is None:
                unknown.update(numbers)
            else:
                found.extend(exchanged)
        return found, unknown


def has_probe(mutant: Mutant) -> bool:
    """Whether a run of unchanged code can say of a mutant that it makes no difference there."""
    place = mutant.place
    in_body = bool(place.function) and not place.statement.startswith("def ")
    return in_body and mutant.change.probe is not None


def instrumented(text: str, probes: Mapping[int, Probe | None]) -> str:
    """The source with each probe's expression handed through `NAME`, which returns it."""
    marks: list[tuple[tuple[int, int, int, int], str]] = []
    for number, probe in probes.items():
        assert probe is not None
        more = f", {probe.more}" if probe.more else ""
        head = f"{NAME}({number}, {probe.watch.value!r})(("
        # What ends at an offset is closed before what begins there; of two that begin at one, the
        # longer begins first, and of two that end at one, the shorter ends first.
        marks.append(((probe.start, 1, -probe.end, number), head))
        marks.append(((probe.end, 0, -probe.start, -number), f"){more})"))
    parts: list[str] = []
    at = 0
    for (offset, *_), words in sorted(marks):
        parts += [text[at:offset], words]
        at = offset
    return "".join([*parts, text[at:]])


@dataclass(slots=True)
class Looks:
    """What instrumented code calls: notes the numbers of probes that see a difference."""

    _differing: set[int] = field(default_factory=set)
    _unfinished: Counter[int] = field(default_factory=Counter)
    """Probes to how many of their expressions were begun and gave no value."""

    @property
    def seen(self) -> frozenset[int]:
        """The numbers. An expression that raises would not, if it were left out."""
        return frozenset(self._differing | {*+self._unfinished})

    def clear(self) -> None:
        """Begin anew."""
        self._differing.clear()
        self._unfinished.clear()

    def __call__(self, number: int, watch: str) -> Callable[..., Any]:
        """Begin an expression; what is returned takes its value, and returns that."""
        if number in self._differing:
            return _as_it_is
        self._unfinished[number] += 1
        return partial(self._look, number, watch)

    def _look(self, number: int, watch: str, value: Any, *more: Any) -> Any:
        self._unfinished[number] -= 1
        if watch == Watch.BOUND:
            return _Bound(value, number, self._differing)
        if _differs(watch, value, more):
            self._differing.add(number)
        return value


def _as_it_is(value: Any, *more: Any) -> Any:
    return value


def looked_at(found: Iterable[Exchange]) -> Looks:
    """Put probes into this process; what is returned notes from then on."""
    looks = Looks()
    BUILTINS[NAME] = looks
    put_in(list(found))
    return looks


class _Bound:
    """The left side of a comparison, which notes whether both sides are equal."""

    __slots__ = ("_number", "_seen", "_value")

    def __init__(self, value: Any, number: int, seen: set[int]) -> None:
        self._value, self._number, self._seen = value, number, seen

    def __lt__(self, other: Any) -> Any:
        return self._looked(other) < other

    def __le__(self, other: Any) -> Any:
        return self._looked(other) <= other

    def __gt__(self, other: Any) -> Any:
        return self._looked(other) > other

    def __ge__(self, other: Any) -> Any:
        return self._looked(other) >= other

    def _looked(self, other: Any) -> Any:
        # Sets have bounds too, and of those each may hold without the other.
        if isinstance(self._value, set | frozenset) or self._value == other:
            self._seen.add(self._number)
        return self._value


def _differs(watch: str, value: Any, more: tuple[Any, ...]) -> bool:
    """Whether what a mutant does instead differs from what was done with the value."""
    match watch:
        case Watch.TRUE:
            return bool(value)
        case Watch.FALSE:
            return not value
        case Watch.NOT_EMPTY:
            return not _same(value, more[0])
        case Watch.STORED:
            return _changes(value, more)
        case Watch.HOLDS:
            return type(value) not in _COLLECTIONS or bool(value)
        case _:
            return True


def _changes(value: Any, more: tuple[Any, ...]) -> bool:
    """Whether storing a value changes a name, or an attribute of an object."""
    if len(more) == 1:
        return not _same(value, more[0])
    owner, name = more
    if isinstance(getattr(type(owner), name, None), property):
        return True
    return not _same(value, getattr(owner, name, _MISSING))


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    return type(one) is type(other) and isinstance(one, _PLAIN) and bool(one == other)
