"""How the parts of the loader say what is wrong, before anybody knows which file it is in."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from harness.canonical import printable
from harness.errors import CassetteFormatError
from services.wire import Json

__all__ = ["FormatProblem", "kind_of", "shortened", "suggest"]

_MOST_OF_A_KEY = 300
_MOST_OF_A_PROBLEM = 1_000


class FormatProblem(Exception):
    """Something is wrong at `key` (a path such as `model[3].stream`; empty: the whole file).

    What it quotes of a file is shown on one line and not without end.
    """

    def __init__(self, key: str, problem: str, mend: str) -> None:
        self.key = printable(shortened(key, _MOST_OF_A_KEY))
        self.problem = printable(shortened(problem, _MOST_OF_A_PROBLEM))
        self.mend = printable(shortened(mend, _MOST_OF_A_PROBLEM))
        super().__init__(f"{self.key}: {self.problem}; {self.mend}")

    def in_file(self, file: Path) -> CassetteFormatError:
        """The same, for whoever asked for the file."""
        return CassetteFormatError(file, self.key, self.problem, self.mend)


def kind_of(value: Json) -> str:
    """`value` in a sentence: containers by kind, scalars as they are."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    # Nothing of a long text but its beginning is looked at.
    shown = repr(value[:100] if isinstance(value, str) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


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
