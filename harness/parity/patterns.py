"""`ValuePattern`: a regular expression of a waiver, matched in linear time.

`re` takes exponential time for some patterns (`(a+)+b`), so a waivers file could hang every run.
`re`'s own parser parses the pattern; it runs as a set of states, one step per character. Patterns
with too many states are refused, and so are back references, lookbehind, and lookahead anywhere but
at the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined] # has no types
from re import _parser  # type: ignore[attr-defined] # the only reader of patterns that is `re`'s own
from typing import Any, Final

__all__ = ["PatternProblem", "ValuePattern"]

_MOST_STATES: Final = 1_000
_MOST_BUILT: Final = 20 * _MOST_STATES
"""Groups built; an empty group in a repeat counts as often as it is repeated."""
_TOO_LARGE: Final = "it is too large: shorten it or repeat less often"
_MOST_REMEMBERED: Final = 20_000
_LONGEST: Final = 2_000
"""Characters of a pattern."""

Takes = Callable[[str], bool]
States = frozenset[int]


class PatternProblem(ValueError):
    """Why a pattern cannot be used."""


class ValuePattern:
    """A compiled pattern. It matches whole texts; a dot matches line ends, `$` only the end."""

    def __init__(self, source: str) -> None:
        """Compile.

        Raises:
            PatternProblem: `source` is no regular expression, or an unsupported one.
        """
        if len(source) > _LONGEST:
            raise PatternProblem(f"longer than {_LONGEST} characters")
        try:
            self._build(source)
        except (re.error, OverflowError) as error:
            raise PatternProblem(f"not a regular expression: {error}") from error
        except RecursionError as error:
            raise PatternProblem("its groups are nested too deeply") from error

    def _build(self, source: str) -> None:
        tree = _parser.parse(source, re.DOTALL)
        if tree.state.flags & (re.MULTILINE | re.LOCALE | re.ASCII):
            raise PatternProblem("the flags a, L and m are not supported")
        nodes = list(tree)
        self._conditions: list[tuple[bool, _Machine]] = []
        fold = bool(tree.state.flags & re.IGNORECASE)
        while nodes and nodes[0][0] in (op.ASSERT, op.ASSERT_NOT) and nodes[0][1][0] == 1:
            code, (_, ahead) = nodes.pop(0)
            self._conditions.append((code is op.ASSERT, _Machine(list(ahead), fold=fold)))
        self._body = _Machine(nodes, fold=fold)

    def fits(self, text: str) -> bool:
        """Whether the pattern matches the whole `text`."""
        return all(
            machine.accepts(text, whole=False) is wanted for wanted, machine in self._conditions
        ) and self._body.accepts(text, whole=True)

    def fits_all_of(self, alphabet: Iterable[str], longest: int) -> Iterator[bool]:
        """For each length from 1 to `longest`: whether every text of that length fits.

        Lookahead at the beginning is ignored, since it can exclude as few texts as one likes.
        """
        return self._body.accepts_every(tuple(alphabet), longest)


class _Machine:
    """A nondeterministic automaton, built from the last node to the first."""

    def __init__(self, nodes: list[Any], *, fold: bool) -> None:
        self._fold = fold
        self._built = 0
        self._takes: list[tuple[Takes, int] | None] = []
        self._free: list[list[tuple[str, int]]] = []
        self._end = self._state()
        self._start = self._sequence(nodes, self._end)
        self._steps: dict[tuple[States, str], States] = {}
        self._begun = self._closed({self._start}, at_start=True)

    def accepts(self, text: str, *, whole: bool) -> bool:
        """Whether the whole text matches; with `whole` unset, whether a prefix does."""
        states = self._begun
        for character in text:
            if not whole and self._is_end(states, last=False):
                return True
            states = self._after(states, character)
            if not states:
                return False
        return self._is_end(states, last=True)

    def accepts_every(self, alphabet: tuple[str, ...], longest: int) -> Iterator[bool]:
        """For each length: whether every text over `alphabet` fits."""
        level = {self._begun}
        for _ in range(longest):
            level = {self._after(states, each) for states in level for each in alphabet}
            if len(level) > _MOST_STATES:
                return
            yield all(self._is_end(states, last=True) for states in level)

    def _is_end(self, states: States, *, last: bool) -> bool:
        return self._end in (self._closed(states, at_end=True) if last else states)

    def _after(self, states: States, character: str) -> States:
        key = (states, character)
        found = self._steps.get(key)
        if found is None:
            moves = (self._takes[state] for state in states)
            found = self._closed({move[1] for move in moves if move and move[0](character)})
            if len(self._steps) >= _MOST_REMEMBERED:
                self._steps.clear()
            self._steps[key] = found
        return found

    def _closed(
        self, states: Iterable[int], *, at_start: bool = False, at_end: bool = False
    ) -> States:
        """`states` with those reachable without a character."""
        seen = set(states)
        waiting = list(seen)
        while waiting:
            for condition, target in self._free[waiting.pop()]:
                passable = not condition or (condition == "start" and at_start)
                if (passable or (condition == "end" and at_end)) and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return frozenset(seen)

    def _state(self, *free: int, takes: tuple[Takes, int] | None = None, when: str = "") -> int:
        if len(self._takes) >= _MOST_STATES:
            raise PatternProblem(_TOO_LARGE)
        self._takes.append(takes)
        self._free.append([(when, target) for target in free])
        return len(self._takes) - 1

    def _sequence(self, nodes: Iterable[Any], then: int) -> int:
        self._built += 1
        if self._built > _MOST_BUILT:
            raise PatternProblem(_TOO_LARGE)
        for node in reversed(list(nodes)):
            then = self._node(node[0], node[1], then)
        return then

    def _node(self, code: Any, about: Any, then: int) -> int:
        if code is op.SUBPATTERN:
            _, add, remove, inner = about
            if add or remove:
                raise PatternProblem("flags belong at the beginning of a pattern")
            return self._sequence(inner, then)
        if code is op.BRANCH:
            return self._state(*(self._sequence(each, then) for each in about[1]))
        if code in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeat(about[0], about[1], about[2], then)
        if code is op.AT:
            when = {op.AT_BEGINNING: "start", op.AT_BEGINNING_STRING: "start"}.get(about)
            when = when or {op.AT_END: "end", op.AT_END_STRING: "end"}.get(about)
            if when is None:
                raise PatternProblem("word boundaries are not supported")
            return self._state(then, when=when)
        return self._state(takes=(self._taking(code, about), then))

    def _repeat(self, least: int, most: Any, inner: Any, then: int) -> int:
        if most is op.MAXREPEAT:
            again = self._state()
            body = self._sequence(inner, again)
            self._free[again] = [("", body), ("", then)]
            then = again
        else:
            if most > _MOST_STATES:
                raise PatternProblem(_TOO_LARGE)
            end = then
            for _ in range(most - least):
                then = self._state(self._sequence(inner, then), end)
        if least > _MOST_STATES:
            raise PatternProblem(_TOO_LARGE)
        for _ in range(least):
            then = self._sequence(inner, then)
        return then

    def _taking(self, code: Any, about: Any) -> Takes:
        if code in (op.ANY, op.ANY_ALL):
            return lambda _: True
        if code in (op.LITERAL, op.NOT_LITERAL):
            is_it = self._either_case(_member(op.LITERAL, about))
            return is_it if code is op.LITERAL else lambda character: not is_it(character)
        if code is op.IN:
            negated = about[0][0] is op.NEGATE
            members = [_member(kind, value) for kind, value in about[negated:]]
            inside = self._either_case(lambda character: any(each(character) for each in members))
            return lambda character: inside(character) is not negated
        raise PatternProblem("references, atomic groups and lookaround are not supported")

    def _either_case(self, takes: Takes) -> Takes:
        if not self._fold:
            return takes
        return lambda character: any(
            takes(each) for each in {character, *character.lower()[:1], *character.upper()[:1]}
        )


def _member(kind: Any, value: Any) -> Takes:
    """A test for one entry of a character set."""
    if kind is op.LITERAL:
        return lambda character: ord(character) == value
    if kind is op.RANGE:
        low, high = value
        return lambda character: low <= ord(character) <= high
    assert kind is op.CATEGORY
    test, wanted = _CATEGORIES[value]
    return lambda character: test(character) is wanted


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_CATEGORIES: Final[dict[Any, tuple[Takes, bool]]] = {
    op.CATEGORY_DIGIT: (str.isdecimal, True),
    op.CATEGORY_NOT_DIGIT: (str.isdecimal, False),
    op.CATEGORY_SPACE: (str.isspace, True),
    op.CATEGORY_NOT_SPACE: (str.isspace, False),
    op.CATEGORY_WORD: (_is_word, True),
    op.CATEGORY_NOT_WORD: (_is_word, False),
}
