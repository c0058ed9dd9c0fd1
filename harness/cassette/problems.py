"""How the parts of the loader say what is wrong, before anybody knows which file it is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from harness.canonical import printable
from harness.errors import CassetteFormatError, kind_of

__all__ = ["FormatProblem", "Problems", "kind_of", "shortened", "suggest"]

_MOST_OF_A_KEY = 300
_MOST_OF_A_PROBLEM = 1_000
_MOST_PROBLEMS = 1_000
"""Of one file: a hostile one may have millions."""

T = TypeVar("T")


class FormatProblem(Exception):
    """Something is wrong at `key` (a path such as `model[3].stream`; empty: the whole file).

    What it quotes of a file is shown on one line and not without end.

    Attributes:
        more: What else is wrong, where the reader could go on behind the first problem.
    """

    def __init__(
        self, key: str, problem: str, mend: str, more: Sequence[FormatProblem] = ()
    ) -> None:
        self.key = printable(shortened(key, _MOST_OF_A_KEY))
        self.problem = printable(shortened(problem, _MOST_OF_A_PROBLEM))
        self.mend = printable(shortened(mend, _MOST_OF_A_PROBLEM))
        self.more = tuple(more)
        super().__init__(f"{self.key}: {self.problem}; {self.mend}")

    def in_file(self, file: Path) -> CassetteFormatError:
        """The same, for whoever asked for the file."""
        more = [each.in_file(file) for each in self.more]
        return CassetteFormatError(file, self.key, self.problem, self.mend, more)


class Problems:
    """Collects what is wrong with the parts of a document, so that none hides the others."""

    def __init__(self) -> None:
        self._found: list[FormatProblem] = []

    def of(self, read: Callable[[], T]) -> T | None:
        """What `read` returns; `None` where it refuses its part of the document."""
        try:
            return read()
        except FormatProblem as problem:
            self.add(problem)
            return None

    def add(self, problem: FormatProblem) -> None:
        """Take one in, and what it brings with it; of very many, the first ones."""
        self._found += [problem, *problem.more]
        if len(self._found) > _MOST_PROBLEMS:
            last = FormatProblem("", "has more problems than these", "mend these first")
            self._found[_MOST_PROBLEMS:] = [last]

    def refuse(self) -> None:
        """Raise the first problem with all others, if there is any.

        Raises:
            FormatProblem: the first.
        """
        if self._found:
            first, *more = self._found
            raise FormatProblem(first.key, first.problem, first.mend, more)


def shortened(text: str, most: int) -> str:
    """`text`, or its beginning and its end where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    kept = (most - 5) // 2
    return f"{text[:kept]} ... {text[-kept:]}"


def suggest(word: str, known: Iterable[str]) -> str:
    """What to write in the place of `word`: the nearest known word, or all of them."""
    words = sorted(known)
    # A word of many times the length is near to none, and finding that out takes long.
    near = get_close_matches(word, words, n=1, cutoff=0.75) if len(word) < 100 else []
    if near:
        return f"did you mean {near[0]}?"
    return f"remove it, or use one of: {', '.join(words)}"
