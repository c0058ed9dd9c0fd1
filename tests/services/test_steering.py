"""What is said to a session while it works."""

from __future__ import annotations

import pytest

from services.clock import SystemClock
from services.state import CoreEvents, HintsKept
from services.steering import Injection, InjectionService, InjectionSource, MainInbox
from services.steering_texts import steering_update
from services.wire import Part

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


RESULT: Part = {"functionResponse": {"name": "look", "response": {}}}


def inbox(*texts: str, steering: bool = True, interactive: bool = True) -> MainInbox:
    made = MainInbox(CoreEvents(), steering=steering, interactive=interactive)
    for text in texts:
        made.add(text)
    return made


def test_what_waits_goes_before_the_results_of_tools_and_of_nothing_else() -> None:
    waiting = inbox("a", "b")
    assert waiting.before_answers([{"text": "go on"}]) == [{"text": "go on"}]
    first, *others = waiting.before_answers([RESULT, RESULT])
    assert first == {"text": steering_update("a\nb")}
    assert others == [RESULT, RESULT]


def test_texts_wait_until_a_request_has_them() -> None:
    waiting = inbox("a")
    parts = waiting.before_answers([RESULT])
    waiting.request_sent([{"text": "another message"}])
    assert waiting.before_answers([RESULT]) == parts
    waiting.add("b")
    waiting.request_sent(parts)
    assert waiting.before_answers([RESULT])[0] == {"text": steering_update("b")}


def test_a_prompt_is_taken_once_and_where_hints_are_on() -> None:
    waiting = inbox("a", "b")
    assert waiting.take_prompt() == steering_update("a\nb")
    assert waiting.take_prompt() is None
    assert inbox("a", steering=False).take_prompt() is None


def test_the_end_of_a_stream_reports_what_waits() -> None:
    events, heard = CoreEvents(), list[object]()
    events.subscribe(heard.append)
    waiting = MainInbox(events, steering=True, interactive=True)
    waiting.stream_ended()
    waiting.add("a")
    waiting.stream_ended()
    waiting.clear()
    waiting.stream_ended()
    assert heard == [HintsKept(texts=("a",))]


def test_nothing_waits_in_a_session_that_is_not_interactive() -> None:
    waiting = inbox("a", interactive=False)
    assert waiting.before_answers([RESULT]) == [RESULT]
    assert waiting.take_prompt() is None


def test_the_service_gives_both_sources_to_the_main_loop_and_clears_them() -> None:
    said = InjectionService(SystemClock(), steering=True, interactive=True)
    said.add(" a ", HINT)
    said.add("b", END)
    said.add(" ", END)
    assert said.main.before_answers([RESULT])[0] == {"text": steering_update("a\nb")}
    said.clear()
    assert said.main.take_prompt() is None
