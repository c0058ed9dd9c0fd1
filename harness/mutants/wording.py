"""Which cases speak of a mutant: those whose files share rare words with its statement.

Most modules are executed by every case in the same way, so that the executed lines do not show
which case depends on a statement. Its words often do: a rule about `web_fetch` matters to a case
that calls `web_fetch`. A shared word counts the more, the fewer cases have it.
See R. K. Saha et al., "An information retrieval approach for regression test prioritization based
on program changes", ICSE 2015, and K. Sparck Jones, "A statistical interpretation of term
specificity and its application in retrieval", Journal of Documentation 28(1), 1972.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import log
from typing import Final

__all__ = ["Wording", "words_of"]

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
"""`web_fetch`, `webFetch` and `WEB_FETCH` have the same two words."""


def words_of(text: str) -> frozenset[str]:
    """The words of two letters or more in names and prose, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(text) if len(word) > 1)


class Wording:
    """The words of all cases.

    Args:
        words: The words of each case, in the order of the cases' numbers.
    """

    def __init__(self, words: Sequence[frozenset[str]]) -> None:
        self._words = words

    def scores(self, text: str) -> list[float]:
        """How much each case speaks of what `text` is about; all are 0 where no word is shared."""
        found = [0.0] * len(self._words)
        for word in sorted(words_of(text)):
            for number, weight in self._cases.get(word, ()):
                found[number] += weight
        return found

    @cached_property
    def _cases(self) -> Mapping[str, list[tuple[int, float]]]:
        """A word to the cases that have it, with what it counts."""
        counts = Counter(chain.from_iterable(self._words))
        cases: dict[str, list[tuple[int, float]]] = {}
        for number, words in enumerate(self._words):
            for word in words:
                weight = log(len(self._words) / counts[word])
                cases.setdefault(word, []).append((number, weight))
        return cases
