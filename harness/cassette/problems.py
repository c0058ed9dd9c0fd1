"""Problems of a document, collected by the loader before the file's name is added."""

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
"""Of one file; a hostile one may have millions."""

T = TypeVar("T")


class FormatProblem(Exception):
    """A problem at `key` (a path such as `model[3].stream`; empty: the whole file).

    Its texts are printable and of limited length.

    Attributes:
        more: The other problems of the document, where the reader could continue.
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
        """The same as an error of `file`."""
        more = [each.in_file(file) for each in self.more]
        return CassetteFormatError(file, self.key, self.problem, self.mend, more)


class Problems:
    """Collects the problems of a document, so that one does not hide the others."""

    def __init__(self) -> None:
        self._found: list[FormatProblem] = []

    def of(self, read: Callable[[], T]) -> T | None:
        """Return what `read` returns; `None` where it raises a problem, which is added."""
        try:
            return read()
        except FormatProblem as problem:
            self.add(problem)
            return None

    def add(self, problem: FormatProblem) -> None:
        """Add a problem and its `more`, up to a limit."""
        self._found += [problem, *problem.more]
        if len(self._found) > _MOST_PROBLEMS:
            last = FormatProblem("", "has more problems than these", "mend these first")
            self._found[_MOST_PROBLEMS:] = [last]

    def refuse(self) -> None:
        """Raise the first problem with the others, if there is any.

        Raises:
            FormatProblem: the first.
        """
        if self._found:
            first, *more = self._found
            raise FormatProblem(first.key, first.problem, first.mend, more)


def shortened(text: str, most: int) -> str:
    """`text`, or its beginning and end where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    kept = (most - 5) // 2
    return f"{text[:kept]} ... {text[-kept:]}"


def suggest(word: str, known: Iterable[str]) -> str:
    """How to mend the unknown `word`: the nearest known word, or all of them."""
    words = sorted(known)
    # A very long word is near to none, and comparing it takes long.
    near = get_close_matches(word, words, n=1, cutoff=0.75) if len(word) < 100 else []
    if near:
        return f"did you mean {near[0]}?"
    return f"remove it, or use one of: {', '.join(words)}"
