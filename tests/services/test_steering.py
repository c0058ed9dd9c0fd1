"""What is said to a session while it works."""

from __future__ import annotations

import pytest

from services.clock import SystemClock
from services.steering import Injection, InjectionService, InjectionSource

HINT, END = InjectionSource.USER_STEERING, InjectionSource.BACKGROUND_COMPLETION


def service(*, steering: bool = True) -> InjectionService:
    return InjectionService(SystemClock(), steering=steering)


def test_texts_are_trimmed_and_empty_ones_are_none() -> None:
    said = service()
    for text in ("  hurry \n", "", " \t\ufeff ", "\x85"):
        said.add(text, HINT)
    assert said.after(-1) == ["hurry", "\x85"]
    assert said.latest == 1


def test_hints_count_only_where_steering_is_on() -> None:
    said = service(steering=False)
    said.add("hurry", HINT)
    said.add("done", END)
    assert said.after(-1) == ["done"]


def test_texts_after_an_index_are_filtered_by_source() -> None:
    said = service()
    assert said.latest == -1
    for text, source in (("a", HINT), ("b", END), ("c", HINT)):
        said.add(text, source)
    assert said.after(0) == ["b", "c"]
    assert said.after(0, HINT) == ["c"]
    assert said.after(-1, END) == ["b"]
    assert said.after(said.latest) == []
    assert said.after(9) == []


def test_listeners_hear_everything_until_they_leave(caplog: pytest.LogCaptureFixture) -> None:
    said, heard = service(), list[Injection]()

    def broken(_: Injection) -> None:
        raise RuntimeError("deaf")

    said.listen(broken)
    leave = said.listen(heard.append)
    said.add("a", HINT)
    leave()
    leave()
    said.add("b", END)
    assert [(each.text, each.source) for each in heard] == [("a", HINT)]
    assert caplog.text.count("a listener of injections failed") == 2


def test_a_conversation_begun_anew_starts_with_nothing_said() -> None:
    said, heard = service(), list[Injection]()
    said.listen(heard.append)
    said.add("a", HINT)
    said.clear()
    assert said.latest == -1
    assert said.after(-1) == []
    said.add("b", HINT)
    assert [each.text for each in heard] == ["a", "b"]
