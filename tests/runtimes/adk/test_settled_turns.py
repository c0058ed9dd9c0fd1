"""`SettledTurns`: the records of a history that grows, shrinks and is replaced."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any, cast

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

from runtimes.adk.session_events import SessionEvents, SettledTurns
from services.clock import VirtualClock
from services.history.transforms import coalesce
from services.history.view import RequestView
from services.model.sdk_contents import WireContent, wire_of
from services.wire import Content, Part


class Turns:
    """A history, and what goes on over it."""

    def __init__(self) -> None:
        self.view = RequestView()
        self.turn_ids: list[str] = []
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def push(self, content: Content) -> None:
        self.turn_ids.append(f"turn-{self.number()}")
        self.view.append(content)

    def truncate(self, length: int) -> None:
        del self.turn_ids[length:]
        self.view.truncate(length)

    def replace(self, made: Iterable[Content], ids: Sequence[str] | None = None) -> None:
        contents = list(made)
        self.turn_ids = list(ids or (f"turn-{self.number()}" for _ in contents))
        self.view.replace(contents)


def part(turns: Turns) -> Part:
    number = turns.number()
    return {"text": f"part-{number}"} if number % 2 else answer_to(f"c{number}", "long")


def answer_to(call_id: str, output: str) -> Part:
    return {"functionResponse": {"id": call_id, "name": "f", "response": {"output": output}}}


def masked(part: Part) -> Part:
    return answer_to(part["functionResponse"]["id"], "masked")


def parts_of(contents: Sequence[Content]) -> list[Part]:
    return [each for content in contents for each in content["parts"]]


def event(turns: Turns, content: Content, **more: Any) -> Event:
    number = turns.number()
    author = "user" if content["role"] == "user" else "agent"
    return Event(
        id=f"event-{number}",
        invocation_id=f"e-{number}",
        timestamp=float(number),
        author=author,
        content=WireContent.of(content),
        **more,
    )


def a_round(turns: Turns, settled: SettledTurns, *, answered: bool = True) -> list[Event]:
    asked: Content = {"role": "user", "parts": [part(turns), part(turns)]}
    live = [event(turns, asked)]
    turns.push(asked)
    if answered:
        answer: Content = {"role": "model", "parts": [part(turns)]}
        live.append(event(turns, answer))
        turns.push(answer)
    settled.follow(live, answered=live[-1].id)
    return live


def mask(turns: Turns, chance: random.Random) -> None:
    contents = coalesce(turns.view.raw)
    turns.replace(
        {
            **content,
            "parts": [
                masked(each) if "functionResponse" in each and chance.random() < 0.4 else each
                for each in content["parts"]
            ],
        }
        for content in contents
    )


@pytest.mark.parametrize("seed", range(60))
def test_events_hold_the_historys_parts_whatever_happens_to_it(seed):
    chance = random.Random(seed)
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    shown = SessionEvents()
    known: dict[str, Event] = {}
    for _ in range(25):
        kind = chance.choice(["round", "round", "round", "unanswered", "back", "mask", "rewind"])
        length = len(turns.turn_ids)
        if kind == "round":
            a_round(turns, settled)
        elif kind == "unanswered":
            a_round(turns, settled, answered=False)
        elif kind == "back":
            turns.truncate(chance.randint(max(0, length - 3), length))
        elif kind == "mask":
            mask(turns, chance)
        else:
            kept = chance.randint(0, length)
            again = [{**each, "parts": list(each["parts"])} for each in turns.view.raw[:kept]]
            turns.replace(again, turns.turn_ids[:kept])
        settled.follow()
        settled.show(shown)
        assert [id(each) for each in shown] == [id(each) for each in settled.events]
        if chance.random() < 0.5:
            assert parts_of([each.content.wire for each in shown]) == parts_of(turns.view.raw)
            assert len({each.id for each in shown}) == len(shown)
            for each in shown:
                assert known.setdefault(each.id, each) is each


def test_shows_before_live_events():
    turns = Turns()
    settled, shown = SettledTurns(cast("Any", turns), VirtualClock()), SessionEvents()
    live = Event(author="user", invocation_id="i")
    shown.append(live)
    a_round(turns, settled)
    settled.show(shown)
    assert shown[2:] == [live]
    turns.truncate(1)
    settled.follow()
    settled.show(shown)
    assert shown[1:] == [live]
    assert shown.settled == 1


def test_turns_around_a_request_are_not_taken_for_it():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    broken_off: Content = {"role": "model", "parts": [part(turns)]}
    asked: Content = {"role": "user", "parts": [part(turns)]}
    received: Content = {"role": "model", "parts": [part(turns)]}
    binary: Content = {"role": "user", "parts": [{"inlineData": {}}]}
    answer: Content = {"role": "model", "parts": [part(turns)]}
    live = [event(turns, asked), event(turns, answer)]
    for content in (broken_off, asked, received, binary, answer):
        turns.push(content)
    settled.follow(live, answered=live[1].id)
    ids = [each.id for each in settled.events]
    assert [ids[1], ids[4]] == [each.id for each in live]
    assert len(set(ids)) == 5
    assert {each.invocation_id for each in settled.events[:4]} == {live[0].invocation_id}


def test_answer_is_not_the_turn_that_the_user_said_after_it():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    asked, added = ({"role": "user", "parts": [{"text": words}]} for words in ("asked", "added"))
    answer: Content = {"role": "model", "parts": [{"text": "answer"}]}
    live = [event(turns, asked), event(turns, answer)]
    for content in (asked, answer, added):
        turns.push(content)
    settled.follow(live, answered=live[1].id)
    assert [wire_of(cast("Any", each.content)) for each in settled.events] == [asked, answer, added]
    assert settled.events[2].author == "user"


def test_events_of_others_stay_where_they_were_said():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    asked: Content = {"role": "user", "parts": [part(turns)]}
    answer: Content = {"role": "model", "parts": [part(turns)]}
    aside, farewell = (
        Event(
            author="other",
            invocation_id="i",
            content=types.Content(role="model", parts=[types.Part(text=words)]),
        )
        for words in ("aside", "farewell")
    )
    note = event(turns, {"role": "model", "parts": []})
    turns.push(asked)
    turns.push(answer)
    said = event(turns, answer)
    settled.follow([event(turns, asked), aside, said, farewell, note], answered=said.id)
    assert [each.author for each in settled.events] == ["user", "other", "agent", "other"]
    assert settled.events[2].id == said.id
    found = [settled.events[index].content for index in (1, 3)]
    assert [part.text for each in found for part in each.parts or ()] == ["aside", "farewell"]


def test_what_others_said_instead_of_an_answer_stays_with_the_message():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    asked = event(turns, {"role": "user", "parts": [part(turns)]})
    settled.follow([asked])
    assert settled.events == []
    plain = types.Content(role="model", parts=[types.Part(text="instead")])
    instead = Event(author="model", invocation_id="i", content=plain)
    settled.follow([asked, instead])
    assert [each.id for each in settled.events] == [asked.id, instead.id]
    a_round(turns, settled)
    assert [each.id for each in settled.events][:2] == [asked.id, instead.id]


def changing(turns: Turns, settled: SettledTurns, *values: int) -> None:
    """A turn for each value, whose event sets it."""
    for value in values:
        asked: Content = {"role": "user", "parts": [part(turns)]}
        turns.push(asked)
        actions = EventActions(state_delta={"value": value})
        settled.follow([event(turns, asked, actions=actions)])


def changes(settled: SettledTurns) -> list[tuple[int, bool]]:
    """What each event sets, and whether it has a content."""
    settled.follow()
    found = [each for each in settled.events if each.actions.state_delta]
    return [(each.actions.state_delta["value"], each.content is not None) for each in found]


def test_what_events_did_to_state_outlives_turns_that_are_taken_back():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    changing(turns, settled, 1, 2, 3)
    turns.truncate(1)
    assert changes(settled) == [(1, True), (2, False), (3, False)]
    changing(turns, settled, 4)
    assert changes(settled) == [(1, True), (2, False), (3, False), (4, True)]
    turns.truncate(0)
    assert [value for value, _ in changes(settled)] == [1, 2, 3, 4]


def test_what_events_did_to_state_outlives_turns_that_are_replaced():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    changing(turns, settled, 1, 2, 3, 4)
    raw = turns.view.raw
    summary: Content = {"role": "user", "parts": [part(turns)]}
    turns.replace([summary, raw[1], raw[3]])
    assert changes(settled) == [(1, False), (2, True), (3, False), (4, True)]


def test_a_rewind_takes_back_what_events_did_to_state():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    changing(turns, settled, 1, 2, 3)
    turns.replace(turns.view.raw[:2], turns.turn_ids[:2])
    settled.follow(keeps_state=False)
    assert changes(settled) == [(1, True), (2, True)]


def test_an_event_gets_every_response_of_its_turn_that_was_cut_short():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    turns.push({"role": "user", "parts": [answer_to("1", "long"), answer_to("2", "long")]})
    settled.follow([event(turns, turns.view.raw[0])])
    before = [each.id for each in settled.events]
    cut = [answer_to("1", "cut"), answer_to("2", "cut")]
    turns.replace([{"role": "user", "parts": cut}])
    settled.follow()
    assert [each.id for each in settled.events] == before
    assert parts_of([each.content.wire for each in settled.events]) == cut


def test_an_event_that_was_read_is_masked_after_a_resume_too():
    turns = Turns()
    settled = SettledTurns(cast("Any", turns), VirtualClock())
    turns.push({"role": "user", "parts": [answer_to("1", "long"), {"text": "t"}]})
    settled.follow([event(turns, turns.view.raw[0])])
    before: Any = settled.events[0].content
    assert before.parts[0].function_response.response == {"output": "long"}
    again: Content = {"role": "user", "parts": [answer_to("1", "long"), {"text": "t"}]}
    turns.replace([again], turns.turn_ids)
    settled.follow()
    cut = masked(again["parts"][0])
    turns.replace([{"role": "user", "parts": [cut, again["parts"][1]]}])
    settled.follow()
    found: Any = settled.events[0].content
    assert wire_of(found)["parts"] == [cut, {"text": "t"}]
    assert found.parts[0].function_response.response == {"output": "masked"}
