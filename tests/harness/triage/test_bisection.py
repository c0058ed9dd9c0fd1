from collections.abc import Callable, Sequence

import pytest

from harness.triage.bisection import Found, Judged, Light, search

LINE = [str(number) for number in range(30)]


def left_of_line(bad: str, greens: Sequence[str]) -> list[str]:
    """A history that is a line, as git would halve it."""
    first = max(int(green) for green in greens) + 1
    rest = LINE[first : int(bad) + 1]
    order = sorted(range(len(rest)), key=lambda at: -min(at + 1, len(rest) - at - 1))
    return [rest[at] for at in order]


def judge_of(first_red: int, skipped: Sequence[int] = ()) -> Callable[[str], Judged]:
    asked: list[str] = []

    def judge(commit: str) -> Judged:
        assert commit not in asked, "looked at twice"
        asked.append(commit)
        if int(commit) in skipped:
            return Judged(commit, Light.SKIPPED, "does not load")
        return Judged(commit, Light.RED if int(commit) >= first_red else Light.GREEN)

    return judge


def find(first_red: int, skipped: Sequence[int] = ()) -> Found:
    return search("29", "0", left_of_line, judge_of(first_red, skipped))


@pytest.mark.parametrize("first_red", range(1, 30))
def test_the_first_red_revision_is_found_wherever_it_is(first_red: int) -> None:
    found = find(first_red)

    assert (found.commit, found.suspects) == (str(first_red), ())
    assert len(found.judged) <= 5


@pytest.mark.parametrize("first_red", range(1, 30))
def test_skipped_revisions_are_suspects_only_where_they_could_be_it(first_red: int) -> None:
    skipped = [each for each in (9, 14, 15) if each != first_red]
    found = find(first_red, skipped)

    before = []
    for number in range(first_red - 1, 0, -1):
        if number not in skipped:
            break
        before.append(str(number))
    assert found.commit == str(first_red)
    assert sorted(found.suspects) == sorted(before)


def test_a_planted_commit_that_is_skipped_itself_is_among_the_suspects() -> None:
    found = find(14, skipped=[14, 15])

    assert (found.commit, sorted(found.suspects)) == ("16", ["14", "15"])


def test_a_long_stretch_of_skipped_revisions_takes_few_steps() -> None:
    found = find(3, skipped=range(8, 25))

    assert found.commit == "3"
    assert len(found.judged) <= 8


def test_if_all_revisions_are_skipped_the_answer_is_the_whole_range() -> None:
    found = find(5, skipped=range(1, 29))

    assert found.commit == "29"
    assert len(found.suspects) == 28
