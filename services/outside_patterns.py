"""Regular expressions from a model, a server, a cassette or a file, under a time limit.

Python's own engine needs exponential time for some patterns and cannot be stopped. The package
`regex` matches the same patterns and stops at a time limit. Each tool call has one `PatternBudget`
for all texts that it searches.
"""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import regex

from services.exhaustion import limited

__all__ = [
    "LONGEST_PATTERN",
    "MOST_REPEATED",
    "PATTERN_SECONDS",
    "OutsidePattern",
    "PatternBudget",
    "PatternLimit",
    "PatternTooLarge",
    "compile_outside",
]

PATTERN_SECONDS: Final = 3.0
"""The most processor seconds of all patterns of one call. It is short, because patterns block the
event loop."""
LONGEST_PATTERN: Final = 20_000
"""The most characters of a pattern."""
MOST_REPEATED: Final = 200_000
"""The most elements of a pattern when each counted repeat `{n}` is written out `n` times: the
compiler of `regex` does so, and needs about 300 bytes for each. The published core accepts the
corpus' `a{99999}`."""
_SHOWN: Final = 200

_TOKEN: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL
)
_CLASS_PIECE: Final = re.compile(r"\\.|[\[\]]", re.DOTALL)
_WORD: Final = r"\p{L}\p{N}_"
_SPACE: Final = r"\s\x1c-\x1f"
_OUTSIDE_CLASS: Final = {
    r"\w": f"[{_WORD}]",
    r"\W": f"[^{_WORD}]",
    r"\s": f"[{_SPACE}]",
    r"\S": f"[^{_SPACE}]",
}
_INSIDE_CLASS: Final = {r"\w": _WORD, r"\s": _SPACE}
_ANY_WIDTH: Final = "look-behind requires fixed-width pattern"
"""What `re` refuses once it has read the whole pattern. `regex` matches it, as JavaScript does."""


class PatternLimit(Exception):
    """The patterns of a call have used up their time or memory; the message names the text."""


class PatternTooLarge(ValueError):
    """A pattern that is too long, too deeply nested or repeats too much to be compiled."""

    def __init__(self) -> None:
        super().__init__("Regular expression too large")


@dataclass(slots=True)
class PatternBudget:
    """The seconds that remain for the patterns of one call."""

    seconds: float = field(default_factory=lambda: PATTERN_SECONDS)
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.seconds


@dataclass(frozen=True, slots=True)
class OutsidePattern:
    """A compiled pattern whose searches end in time.

    `source` is what was compiled, in the syntax of Python's `re`.
    """

    source: str
    flags: int
    compiled: regex.Pattern[str] = field(compare=False, repr=False)

    @property
    def pattern(self) -> str:
        """The source, under the name that compiled patterns of `re` give it."""
        return self.source

    def search(
        self, text: str, budget: PatternBudget | None = None, *, where: str = ""
    ) -> regex.Match[str] | None:
        """The first match anywhere in `text`.

        Args:
            text: what is searched.
            budget: what remains for the call; a budget of its own unless given.
            where: what `text` is, for the message.

        Raises:
            PatternLimit: the budget is used up, or the search needs too much memory.
        """
        return self._timed(text, budget, where, whole=False)

    def fullmatch(
        self, text: str, budget: PatternBudget | None = None, *, where: str = ""
    ) -> regex.Match[str] | None:
        """The match of the whole of `text`; arguments and errors are those of `search`."""
        return self._timed(text, budget, where, whole=True)

    def _timed(
        self, text: str, budget: PatternBudget | None, where: str, *, whole: bool
    ) -> regex.Match[str] | None:
        left = budget or PatternBudget()
        if left.left <= 0:
            raise self._stopped(f"took longer than {left.seconds:g} s", text, where)
        matching = self.compiled.fullmatch if whole else self.compiled.search
        begun = time.process_time()  # `regex` counts its time limit so, too.
        try:
            return matching(text, timeout=left.left)
        except TimeoutError:
            left.left = 0
            why = f"took longer than {left.seconds:g} s"
            raise self._stopped(why, text, where) from None
        except MemoryError:
            # `regex` raises it when its stack would pass 1 GiB.
            raise self._stopped("needs too much memory", text, where) from None
        finally:
            left.left -= time.process_time() - begun

    def _stopped(self, why: str, text: str, where: str) -> PatternLimit:
        shown = self.source if len(self.source) <= _SHOWN else f"{self.source[:_SHOWN]}..."
        on = where or f"a text of {len(text)} characters"
        return limited(PatternLimit(f"The pattern {shown} {why} on {on}; simplify it."))


@lru_cache(maxsize=512)
def compile_outside(pattern: str, flags: int = 0) -> OutsidePattern:
    r"""Compile `pattern`, which is written in the syntax of Python's `re`.

    A look-behind may have any width.

    Args:
        pattern: the source.
        flags: those of `re`: `IGNORECASE`, `DOTALL`, `ASCII`.

    Raises:
        re.error: it is not a regular expression.
        PatternTooLarge: it is longer than `LONGEST_PATTERN`, repeats more than `MOST_REPEATED`
            elements, or is nested too deeply.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise limited(PatternTooLarge())
    try:
        _check(pattern, flags)
        if _written_out(pattern) > MOST_REPEATED:
            raise limited(PatternTooLarge())
        source = pattern if flags & re.ASCII else _with_classes_of_re(pattern)
        return OutsidePattern(pattern, flags, regex.compile(source, _flags_of_regex(flags)))
    except (RecursionError, OverflowError, regex.error) as error:
        raise limited(PatternTooLarge()) from error


def _check(pattern: str, flags: int) -> None:
    with warnings.catch_warnings():
        # `[--]` might mean something else in a later Python; that is nothing for the user.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            re.compile(pattern, flags)
        except re.error as error:
            if error.msg != _ANY_WIDTH:
                raise


def _flags_of_regex(flags: int) -> int:
    """The flags of `re`, as `regex` numbers them."""
    same = flags & (re.IGNORECASE | re.DOTALL)
    return regex.V0 | same | (regex.ASCII if flags & re.ASCII else 0)


def _written_out(pattern: str) -> int:
    """How many elements `pattern` has when counted repeats are written out."""
    totals, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        text = token.group()
        if text == "(":
            totals.append(0)
            last = 0
        elif text == ")" and len(totals) > 1:
            last = totals.pop()
            totals[-1] += last
        elif token["least"] is not None:
            more = last * (int(token["least"][:9]) - 1)
            totals[-1] += max(more, 0)
            last += max(more, 0)
        elif text not in ("*", "+", "?"):
            totals[-1] += 1
            last = 1
    return sum(totals)


def _with_classes_of_re(pattern: str) -> str:
    r"""`pattern` with `\w` and `\s` spelled as `re` reads them.

    `regex` counts combining marks among letters, and does not count U+001C to U+001F as spaces.
    """
    in_class = False

    def spelled(match: re.Match[str]) -> str:
        nonlocal in_class
        piece = match.group()
        if piece in ("[", "]"):
            in_class = piece == "["
            return piece
        return (_INSIDE_CLASS if in_class else _OUTSIDE_CLASS).get(piece, piece)

    return _CLASS_PIECE.sub(spelled, pattern)
