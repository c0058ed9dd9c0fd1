"""Passes propose simpler documents: a pass yields one, receives whether it was kept, and goes on.

Most passes leave out items, replace a value with a plainer one, or lower a number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.scenarios.shrinking.edits import Place, places, value_at, with_value
from services.wire import Json, JsonObject

__all__ = ["Descent", "Options", "Pass", "dropping", "fewer", "lower", "one_of", "replacing"]

T = TypeVar("T")

Descent = Generator[JsonObject, bool, JsonObject]
"""Yields simpler documents, receives whether each was kept, returns the last that was."""

Options = Generator[Json, bool, None]
"""Yields plainer values, receives whether each was kept."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One way to make a document simpler."""

    name: str
    """For progress: `fewer sends`."""
    descend: Callable[[JsonObject], Descent]


def fewer(
    items: Sequence[T],
    build: Callable[[Sequence[T]], JsonObject],
    start: JsonObject,
    least: int = 0,
) -> Descent:
    """Leave items out: all of them, then halves, and so on to single ones, the last first.

    Args:
        items: The items.
        build: Makes the document with only the given items.
        start: The document with all items.
        least: The fewest items that remain.
    """
    kept, document = list(items), start
    size = len(kept)
    while size:
        end = len(kept)
        while end > 0:
            begin = max(0, end - size)
            rest = kept[:begin] + kept[end:]
            if len(rest) >= least:
                candidate = build(rest)
                if (yield candidate):
                    kept, document = rest, candidate
            end = begin
        size = min(size // 2, len(kept))
    return document


def dropping(
    name: str,
    pattern: str,
    only: Collection[str] | None = None,
    keep: Collection[str] = (),
    least: int = 0,
) -> Pass:
    """Leave out items of the lists, or keys of the mappings, at `pattern` (see `places`).

    From mappings only the keys in `only` (`None`: all) and not in `keep` may go. Lists keep at
    least `least` items.
    """

    def descend(document: JsonObject) -> Descent:
        # From the end, so that a change moves no later place.
        for place in reversed(places(document, pattern)):
            document = yield from _at(document, place)
        return document

    def _at(document: JsonObject, place: Place) -> Descent:
        whole = value_at(document, place)
        if isinstance(whole, list):
            return fewer(whole, lambda r: with_value(document, place, list(r)), document, least)
        if not isinstance(whole, dict):
            return fewer((), lambda rest: document, document)
        may_go = [key for key in whole if (only is None or key in only) and key not in keep]

        def build(rest: Sequence[str]) -> JsonObject:
            left = {key: value for key, value in whole.items() if key in rest or key not in may_go}
            return with_value(document, place, left)

        return fewer(may_go, build, document)

    return Pass(name, descend)


def replacing(name: str, pattern: str, plainer: Callable[[Json], Options]) -> Pass:
    """Replace the values at `pattern` with those that `plainer` yields."""

    def descend(document: JsonObject) -> Descent:
        for place in reversed(places(document, pattern)):
            document = yield from _at(document, place)
        return document

    def _at(document: JsonObject, place: Place) -> Descent:
        options = plainer(value_at(document, place))
        kept: Any = None  # what a generator is first sent
        with suppress(StopIteration):
            while True:
                candidate = with_value(document, place, options.send(kept))
                kept = yield candidate
                document = candidate if kept else document
        return document

    return Pass(name, descend)


def one_of(*plain: Json) -> Callable[[Json], Options]:
    """Options: `plain` in order, the plainest first, until one is kept."""

    def plainer(value: Json) -> Options:
        for option in plain:
            if option == value or (yield option):
                return

    return plainer


def lower(least: int) -> Callable[[Json], Options]:
    """Options: `least`, or else ever smaller whole numbers above it."""

    def plainer(value: Json) -> Options:
        if not isinstance(value, int) or isinstance(value, bool) or value <= least:
            return
        if (yield least):
            return
        step = (value - least) // 2
        while step:
            if value - step > least and (yield value - step):
                value -= step
            else:
                step //= 2

    return plainer
