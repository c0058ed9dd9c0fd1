"""Cases are ranked by the rare words that they share with a statement."""

from __future__ import annotations

import pytest

from harness.mutants.wording import Wording, words_of


@pytest.mark.parametrize("name", ["web_fetch", "webFetch", "WEB_FETCH", "`web` of a FetchTool 7"])
def test_each_spelling_of_a_name_has_the_same_words(name: str) -> None:
    assert {"web", "fetch"} <= words_of(name)


def test_letters_alone_and_digits_are_no_words() -> None:
    assert words_of("a b-2 f(x) 17") == frozenset()


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    files = ["tool plan", "tool fetch", "tool plan", "mode"]
    common, rare, also_common, neither = Wording([words_of(each) for each in files]).scores(
        'tool == "web_fetch" or plan'
    )

    assert rare > common == also_common > neither == 0


def test_a_word_of_every_case_counts_nothing() -> None:
    assert Wording([words_of("session"), words_of("session")]).scores("session") == [0, 0]
