"""Which turns of a history are still there in the one that took its place."""

from __future__ import annotations

from typing import Any

from services.chat import successors, with_parts
from services.recording.records import HistoryTurn
from services.wire import Part


def turn(turn_id: str, *parts: Part, role: str = "user") -> HistoryTurn:
    return turn_id, {"role": role, "parts": list(parts)}


def text(words: str) -> Part:
    return {"text": words}


def response(call_id: str, output: str) -> Part:
    return {"functionResponse": {"id": call_id, "name": "f", "response": {"output": output}}}


def test_a_turn_is_known_by_its_id_and_its_parts_are_replaced():
    one, two, again = text("one"), text("two"), text("one")
    found, changed = successors([turn("a", one), turn("b", two)], [turn("a", again)])
    assert found == {0: 0}
    assert changed == {id(one): again}
    assert changed[id(one)] is again


def test_parts_of_a_turn_that_has_other_ones_by_now_stay():
    one = text("one")
    found, changed = successors([turn("a", one)], [turn("a", text("x"), text("one"))])
    assert (found, changed) == ({0: 0}, {})


def test_a_turn_without_its_id_is_known_by_its_parts():
    one, two, three = text("one"), text("two"), text("three")
    old = [turn("a", one), turn("b", two), turn("c", three)]
    found, changed = successors(old, [turn("x", text("summary")), turn("y", two, three)])
    assert found == {1: 1, 2: 1}
    assert changed == {}


def test_equal_parts_are_not_the_same_turn():
    assert successors([turn("a", text("one"))], [turn("x", text("one"))]) == ({}, {})


def test_a_response_that_was_cut_short_is_known_by_its_call():
    long, other = response("1", "long"), response("2", "long")
    cut, also = response("1", "cut"), response("2", "cut")
    found, changed = successors([turn("a", long, other)], [turn("x", cut, also)])
    assert found == {0: 0}
    assert changed == {id(long): cut, id(other): also}


def test_a_call_that_got_a_signature_is_known():
    call: Part = {"functionCall": {"id": "1", "name": "f", "args": {}}}
    signed = {**call, "thoughtSignature": "s"}
    found, changed = successors([turn("a", call, role="model")], [turn("x", signed, role="model")])
    assert (found, changed) == ({0: 0}, {id(call): signed})


def test_the_response_itself_counts_before_one_to_a_call_of_the_same_id():
    first, second = response("1", "first"), response("1", "second")
    old = [turn("a", first), turn("b", second)]
    assert successors(old, [turn("x", first), turn("y", second)]) == ({0: 0, 1: 1}, {})


def test_a_turn_that_kept_its_id_is_in_no_other():
    answer = response("1", "answer")
    again: Any = [turn("a", response("1", "answer")), turn("a_response", response("1", "answer"))]
    found, changed = successors([turn("a", answer)], again)
    assert found == {0: 0}
    assert list(changed) == [id(answer)]


def test_with_parts_replaces_by_identity():
    one, equal, new = text("one"), text("one"), text("new")
    _, content = turn("a", one, equal)
    assert with_parts(content, {id(one): new}) == {"role": "user", "parts": [new, equal]}
    assert with_parts(content, {}) is content
    assert with_parts({"role": "model"}, {id(one): new}) == {"role": "model"}
