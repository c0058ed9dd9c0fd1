"""How the parts of the loader say what is wrong, before anybody knows which file it is in."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from harness.errors import CassetteFormatError
from services.wire import Json

__all__ = ["FormatProblem", "kind_of", "suggest"]


class FormatProblem(Exception):
    """Something is wrong at `key` (a path such as `model[3].stream`; empty: the whole file)."""

    def __init__(self, key: str, problem: str, mend: str) -> None:
        super().__init__(f"{key}: {problem}; {mend}")
        self.key = key
        self.problem = problem
        self.mend = mend

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
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def suggest(word: str, known: Iterable[str]) -> str:
    """What to write in the place of `word`: the nearest known word, or all of them."""
    words = sorted(known)
    near = get_close_matches(word, words, n=1, cutoff=0.75)
    if near:
        return f"did you mean {near[0]}?"
    return f"remove it, or use one of: {', '.join(words)}"
