"""Contents that carry the API's JSON past google-genai's types."""

from __future__ import annotations

import copy

from google.adk.events.event import Event
from google.genai import types

from runtimes.adk.notes import (
    Delta,
    TypedHistory,
    WireContent,
    note_of,
    wire_of,
)


def turn(words: str, role: str = "user"):
    return {"role": role, "parts": [{"text": words}]}


def test_event_keeps_the_very_content():
    wire = {"role": "model", "parts": [{"text": "x", "thoughtSignature": "%%%", "new": 1}]}
    content = WireContent.of(wire, Delta())
    event = Event(author="a", invocation_id="i", content=content)
    assert wire_of(event.content) is wire
    assert note_of(event) == Delta()
    assert note_of(event.model_copy(update={"partial": True})) == Delta()


def test_adk_sees_texts_calls_and_responses():
    content = WireContent.of(
        {
            "role": "model",
            "parts": [
                {"text": "t", "thought": True},
                {"functionCall": {"id": "1", "name": "f", "args": {"a": 1}}},
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                {"functionCall": {"name": "odd", "args": [1]}},
            ],
        }
    )
    thought, asked, media, odd = content.parts
    assert (thought.text, thought.thought) == ("t", True)
    assert (asked.function_call.id, asked.function_call.args) == ("1", {"a": 1})
    assert media.inline_data == types.Blob(mime_type="image/png", data=b"\0\0\0")
    assert odd.function_call.args is None


def test_adk_sees_responses_of_tools_and_none_that_a_model_made_up():
    parts = [{"functionResponse": {"id": "1", "name": "f", "response": {"o": 1}}}]
    (answer,) = WireContent.of({"role": "user", "parts": parts}).parts
    assert answer.function_response.response == {"o": 1}
    made_up = WireContent.of({"role": "model", "parts": parts})
    assert made_up.parts == [types.Part()]
    assert wire_of(made_up) == {"role": "model", "parts": parts}


def test_copy_is_read_from_its_fields():
    content = WireContent.of(turn("old"), Delta())
    for made in (content.model_copy(), copy.deepcopy(content)):
        made.parts = [types.Part(text="new")]
        assert wire_of(made) == turn("new")
        assert made.note is None


def test_plain_content_is_read_from_its_fields():
    content = types.Content(role="user", parts=[types.Part(text="x")])
    assert wire_of(content) == turn("x")
    assert note_of(Event(author="a", invocation_id="i", content=content)) is None
    assert note_of(Event(author="a", invocation_id="i")) is None


def test_bare_content_has_no_parts_but_is_there():
    content = WireContent.bare(Delta())
    assert content.parts == []
    assert bool(content)


def test_typed_history_makes_each_content_once():
    history = TypedHistory()
    wires = [turn("a"), turn("b", "model")]
    before = list(history.follow(wires))
    after = history.follow([*wires, turn("c")])
    assert after[:2] == before
    assert after[0] is before[0]
    assert after[1] is before[1]
    assert [wire_of(content) for content in after] == [*wires, turn("c")]


def test_typed_history_follows_truncation_and_change():
    history = TypedHistory()
    a, b, c = turn("a"), turn("b", "model"), turn("c")
    history.follow([a, b, c])
    changed = turn("b2", "model")
    assert [wire_of(content) for content in history.follow([a, changed])] == [a, changed]
    assert [wire_of(content) for content in history.follow([])] == []
    assert [wire_of(content) for content in history.follow([c])] == [c]


def test_typed_history_keeps_what_a_replaced_one_begins_with_too():
    history = TypedHistory()
    a, b, c = turn("a"), turn("b", "model"), turn("c")
    before = list(history.follow([a, b, c]))
    changed = turn("b2", "model")
    after = history.follow([a, changed, c], replaced=True)
    assert [wire_of(content) for content in after] == [a, changed, c]
    assert after[0] is before[0]
