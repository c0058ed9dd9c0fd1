"""How a pass goes down: it proposes a simpler document, hears whether it was kept, and goes on.

Three ways do for nearly all of a cassette: leave items out, put something plainer in the place of a
value, lower a number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.scenarios.shrinking.edits import Place, places, value_at, with_value
from services.wire import Json, JsonObject

__all__ = ["Descent", "Options", "Pass", "dropping", "fewer", "lower", "one_of", "replacing"]

T = TypeVar("T")

Descent = Generator[JsonObject, bool, JsonObject]
"""Yields a simpler document, is sent whether it was kept, returns the last one that was."""

Options = Generator[Json, bool, None]
"""The same for one value: yields plainer ones, is sent whether each was kept."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One way to make a document simpler."""

    name: str
    """For people who watch: `fewer sends`."""
    descend: Callable[[JsonObject], Descent]


def fewer(
    items: Sequence[T],
    build: Callable[[Sequence[T]], JsonObject],
    start: JsonObject,
    least: int = 0,
) -> Descent:
    """Leave items out: all of them, then halves, and so on to single ones, the last first.

    Args:
        items: What there is.
        build: Makes the document that has only these.
        start: The document that has all of them.
        least: How many stay at least.
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
    """Leave out items of the lists, or keys of the mappings, at `pattern`.

    Args:
        name: The pass's name.
        pattern: See `places`.
        only: Of mappings, the keys that may go; all where `None`.
        keep: Of mappings, keys that stay.
        least: Of lists, how many items stay.
    """

    def descend(document: JsonObject) -> Descent:
        # From the end: what is left out there moves nothing that is still to come.
        for place in reversed(places(document, pattern)):
            document = yield from _at(document, place)
        return document

    def _at(document: JsonObject, place: Place) -> Descent:
        whole = value_at(document, place)
        if isinstance(whole, list):

            def shorter(rest: Sequence[Json]) -> JsonObject:
                return with_value(document, place, list(rest))

            return fewer(whole, shorter, document, least)
        if not isinstance(whole, dict):
            return fewer((), lambda rest: document, document)
        may_go = [key for key in whole if (only is None or key in only) and key not in keep]

        def build(rest: Sequence[str]) -> JsonObject:
            left = {key: value for key, value in whole.items() if key in rest or key not in may_go}
            return with_value(document, place, left)

        return fewer(may_go, build, document)

    return Pass(name, descend)


def replacing(name: str, pattern: str, plainer: Callable[[Json], Options]) -> Pass:
    """Put plainer values in the place of those at `pattern`, each while it is kept."""

    def descend(document: JsonObject) -> Descent:
        for place in reversed(places(document, pattern)):
            document = yield from _at(document, place)
        return document

    def _at(document: JsonObject, place: Place) -> Descent:
        options = plainer(value_at(document, place))
        option = next(options, _NO_MORE)
        while option is not _NO_MORE:
            candidate = with_value(document, place, option)
            kept = yield candidate
            document = candidate if kept else document
            try:
                option = options.send(kept)
            except StopIteration:
                break
        return document

    return Pass(name, descend)


_NO_MORE = object()


def one_of(*plain: Json) -> Callable[[Json], Options]:
    """The first of `plain` that is kept, the plainest first."""

    def plainer(value: Json) -> Options:
        for option in plain:
            if option == value or (yield option):
                return

    return plainer


def lower(least: int) -> Callable[[Json], Options]:
    """A smaller whole number, `least` if that will do."""

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
