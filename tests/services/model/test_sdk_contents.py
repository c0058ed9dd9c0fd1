"""Contents that carry the API's JSON past google-genai's types."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest
from google.genai import types

from services.model.sdk_contents import (
    TypedHistory,
    WireContent,
    WirePart,
    dumped_part,
    edited_wire,
    request_contents,
    wire_of,
)


def turn(words: str, role: str = "user"):
    return {"role": role, "parts": [{"text": words}]}


def test_content_carries_the_very_json_and_the_note():
    wire = {"role": "model", "parts": [{"text": "x", "thoughtSignature": "%%%", "new": 1}]}
    note = object()
    content = WireContent.of(wire, note)
    assert wire_of(content) is wire
    assert content.note is note


def test_texts_calls_and_media_are_seen():
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
    thought, asked, media, odd = cast("Any", content.parts)
    assert (thought.text, thought.thought) == ("t", True)
    assert (asked.function_call.id, asked.function_call.args) == ("1", {"a": 1})
    assert media.inline_data == types.Blob(mime_type="image/png", data=b"\0\0\0")
    assert odd.function_call.args is None


def test_responses_of_tools_are_seen_and_none_that_a_model_made_up():
    parts = [{"functionResponse": {"id": "1", "name": "f", "response": {"o": 1}}}]
    (answer,) = cast("Any", WireContent.of({"role": "user", "parts": parts}).parts)
    assert answer.function_response.response == {"o": 1}
    made_up = WireContent.of({"role": "model", "parts": parts})
    assert made_up.parts == [types.Part()]
    assert wire_of(made_up) == {"role": "model", "parts": parts}


def test_copy_is_read_from_its_fields():
    content = WireContent.of(turn("old"), "note")
    for made in (content.model_copy(), copy.deepcopy(content)):
        made.parts = [types.Part(text="new")]
        assert wire_of(made) == turn("new")
        assert made.note is None


def test_plain_content_is_read_from_its_fields():
    content = types.Content(role="user", parts=[types.Part(text="x")])
    assert wire_of(content) == turn("x")


def test_bare_content_has_no_parts_but_is_there():
    content = WireContent.bare("note")
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


def test_part_changed_in_place_keeps_the_fields_that_genai_does_not_know():
    wire = {"functionCall": {"id": "1", "name": "f", "args": {"a": 1}, "new": 2}, "sig": "%"}
    part = WirePart.of(wire, "model")
    assert dumped_part(part) is wire
    part.function_call.args = {"a": 3}
    assert dumped_part(part) == {
        "functionCall": {"id": "1", "name": "f", "args": {"a": 3}, "new": 2},
        "sig": "%",
    }
    part.function_call, part.text = None, "x"
    assert dumped_part(part) == {"sig": "%", "text": "x"}


def test_blank_part_keeps_its_json():
    wire = {"functionCall": {"name": "f"}}
    assert WirePart.blank(wire) == types.Part()
    assert dumped_part(WirePart.blank(wire)) is wire


def test_content_edited_in_part_keeps_the_json_of_the_rest():
    wire = {"role": "model", "parts": [{"text": "a", "new": 1}, {"inlineData": {"data": "%"}}]}
    content = WireContent.of(wire)
    parts = content.parts or []
    assert edited_wire(content) is wire
    plain = types.Content(role="user", parts=[*parts[:1], types.Part(text="b")])
    assert edited_wire(plain) == {"role": "user", "parts": [{"text": "a", "new": 1}, {"text": "b"}]}
    content.parts = parts[1:]
    assert edited_wire(content) == {"role": "model", "parts": [{"inlineData": {"data": "%"}}]}


def test_bytes_are_written_in_the_apis_alphabet():
    part = types.Part(inline_data=types.Blob(mime_type="a/b", data=b"\xfb\xff"))
    assert wire_of(types.Content(parts=[part]))["parts"] == [
        {"inlineData": {"mimeType": "a/b", "data": "+/8="}}
    ]


TAKEN = {
    "index": lambda lent: lent[1],
    "slice": lambda lent: lent[1:][0],
    "iteration": lambda lent: list(lent)[1],
    "reversed": lambda lent: next(reversed(lent)),
    "copy": lambda lent: lent.copy()[1],
    "sum": lambda lent: (lent + [types.Content()])[1],  # noqa: RUF005
    "sum the other way": lambda lent: ([types.Content()] + lent)[2],  # noqa: RUF005
    "pop": lambda lent: lent.pop(),
}


@pytest.mark.parametrize("taken", TAKEN.values(), ids=list(TAKEN))
def test_item_that_is_taken_out_of_a_lent_list_is_a_copy(taken):
    made = [WireContent.of(turn("a")), WireContent.of(turn("b"))]
    lent = request_contents(made)
    item = taken(lent)
    assert item is not made[1]
    assert wire_of(item) is wire_of(made[1])
    item.parts[0].text = "changed"
    assert wire_of(made[1].model_copy()) == turn("b")
    assert list.__len__(lent) == 1 or lent[1] is item


def test_lent_list_copies_only_read_items():
    made = [WireContent.of(turn("a")), WireContent.of(turn("b"))]
    lent = request_contents(made)
    lent.append(made[0])
    lent[0:0] = [made[1]]
    assert list(map(id, list.__iter__(lent))) == list(map(id, [made[1], *made, made[0]]))


CHANGED = {
    "taken": lambda lent: lent[0],
    "appended": lambda lent: lent.append(types.Content()),
    "replaced": lambda lent: lent.__setitem__(slice(0, 1), []),
    "extended": lambda lent: lent.__iadd__([types.Content()]),
    "deleted": lambda lent: lent.__delitem__(0),
    "reversed": lambda lent: lent.reverse(),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=list(CHANGED))
def test_lent_list_notes_that_it_was_used(change):
    lent = request_contents([WireContent.of(turn("a"))], WireContent.of(turn("b")))
    assert not lent.touched
    change(lent)
    assert lent.touched
