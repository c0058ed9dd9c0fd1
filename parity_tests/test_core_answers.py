"""Functions of the services answer what the published core's own functions answered."""

from __future__ import annotations

import pytest

from parity_tests.core_answers import subject as kept
from parity_tests.core_answers.asking import core_answers
from parity_tests.core_answers.catalogue import SUBJECTS
from parity_tests.core_answers.checks import NAMES, check
from parity_tests.core_answers.subject import Subject, answers_file, load_answers
from tests.runtimes.upstream.stand_ins import needs_core


@pytest.mark.parametrize("name", NAMES)
def test_ours_are_the_cores(name: str) -> None:
    assert check(name) == ()


@needs_core
@pytest.mark.parametrize("room", sorted({name.partition(".")[0] for name in SUBJECTS}))
def test_the_core_still_answers_what_is_kept(room: str) -> None:
    """A room is asked in a process of its own: some replace functions of the core."""
    names = [name for name in SUBJECTS if name.partition(".")[0] == room]
    kept_pairs = [(name, *pair) for name in names for pair in load_answers(name)]

    now = core_answers([(name, asked) for name, asked, _ in kept_pairs])

    others = [
        (name, asked, answer, anew)
        for (name, asked, answer), anew in zip(kept_pairs, now, strict=True)
        if answer != anew
    ]
    assert others == []


def test_every_file_of_answers_has_a_subject() -> None:
    files = {file.stem for file in answers_file("any").parent.glob("*.json")}

    assert files == set(SUBJECTS)


def test_another_answer_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "load_answers", lambda name: [[1, 2], [2, 3.0], [3, True]])
    subject = Subject("some.next", lambda asked: asked + 1 if asked < 3 else 1)

    assert subject.differs(0, 3) == ("some.next[2]: ours is 1, the core's true",)
