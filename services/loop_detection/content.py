"""Chanting: the same fifty characters over and over in one stream of text.

The positions of every fifty-character window of the last 5000 characters are stored. Text that
repeats for a good reason is excluded: a fragment with a code fence, a table, a list item, a
heading, a quote or a divider clears the text before it, and code is ignored.

Upstream shifts every stored position with every fragment. Here positions count from the start of
the stream, so that the cost of a fragment is its length.

Source: core `services/loopDetectionService.ts`, `checkContentLoop`.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import pairwise
from typing import Final

from services.wire import js_trim, js_units

__all__ = ["ContentLoops"]

_OCCURRENCES: Final = 10
_CHUNK: Final = 50
_WINDOW: Final = 5000
_MAX_AVERAGE_DISTANCE: Final = _CHUNK * 5
_MAX_PERIODS: Final = _OCCURRENCES // 2
_EXCERPT_BEFORE: Final = 20

_BLANK: Final = (
    "[\\t\\v\\f\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*"
)
"""Upstream has `\\s*` here, newlines too; at the last of them a line starts anyway, and without
them a long run of newlines takes linear time."""
_SPACE: Final = "[\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
_STRUCTURE: Final = re.compile(
    rf"(?:^|\n)(?:{_BLANK}(?:\|[^\n\r\u2028\u2029]*\||[|+-]{{3,}}|[*+]{_SPACE}|[0-9]+\.{_SPACE})"
    rf"|\#+{_SPACE}|>{_SPACE})"
)
"""A table, a list item, a heading or a quote. Upstream's `[*-+]` and `[+-_]` are ranges: a hyphen
starts no list item, and digits, capitals and most punctuation make a divider."""
_DIVIDER: Final = re.compile("[+-_=*\u2500-\u257f]+")


class ContentLoops:
    """The latest text of one stream. Lengths and positions are in UTF-16 code units."""

    def __init__(self) -> None:
        self._in_code = False
        """Outlives `clear`: an unclosed fence silences the check for good, as upstream's does."""
        self._text: str
        self._start: int
        """Position of the text's first unit in the stream."""
        self._next: int
        """Position of the next chunk to look at. A chunk that was found repeated stays the next."""
        self._positions: dict[str, deque[int]]
        self._order: deque[tuple[int, str]]
        self.clear()

    def add(self, fragment: str) -> bool:
        """Take in a fragment of text; `True` when a chunk of it has been repeated too often."""
        units = js_units(fragment)
        fences = units.count("```")
        divider = _DIVIDER.fullmatch(units) is not None
        if fences or divider or _STRUCTURE.search(units):
            self.clear()
        was_in_code = self._in_code
        if fences % 2:
            self._in_code = not self._in_code
        if was_in_code or self._in_code or divider:
            return False
        self._text += units
        self._forget_old()
        return self._look()

    def excerpt(self) -> str:
        """The text around the chunk that was found repeated, trimmed."""
        at = self._next - self._start
        return js_trim(_text(self._text[max(0, at - _EXCERPT_BEFORE) : at + _CHUNK]))

    def clear(self) -> None:
        """Forget the text, as at a tool call."""
        self._text = ""
        self._start = self._next = 0
        self._positions = {}
        self._order = deque()

    def _forget_old(self) -> None:
        surplus = len(self._text) - _WINDOW
        if surplus <= 0:
            return
        self._text = self._text[surplus:]
        self._start += surplus
        self._next = max(self._next, self._start)
        while self._order and self._order[0][0] < self._start:
            _, chunk = self._order.popleft()
            known = self._positions[chunk]
            known.popleft()
            if not known:
                del self._positions[chunk]

    def _look(self) -> bool:
        last = self._start + len(self._text) - _CHUNK
        while self._next <= last:
            at = self._next - self._start
            chunk = self._text[at : at + _CHUNK]
            known = self._positions.setdefault(chunk, deque())
            known.append(self._next)
            self._order.append((self._next, chunk))
            if len(known) >= _OCCURRENCES and self._is_loop(known):
                return True
            self._next += 1
        return False

    def _is_loop(self, known: deque[int]) -> bool:
        recent = [known[i] for i in range(-_OCCURRENCES, 0)]
        if (recent[-1] - recent[0]) / (_OCCURRENCES - 1) > _MAX_AVERAGE_DISTANCE:
            return False
        start = self._start
        periods = {self._text[here - start : there - start] for here, there in pairwise(recent)}
        return len(periods) <= _MAX_PERIODS


def _text(units: str) -> str:
    # Half a surrogate pair at an end stays one, as in every other text that is cut by code units.
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
