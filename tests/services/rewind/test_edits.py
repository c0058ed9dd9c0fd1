"""The edits that a chat recording holds, and their size."""

from __future__ import annotations

from typing import Any

import pytest

from services.rewind import RecordedEdit, change_of_turn, change_since, edits_after
from services.wire import JsonObject


def edit(name: str, added: int = 1, removed: int = 0, **other: Any) -> JsonObject:
    return {
        "fileName": name,
        "filePath": f"/ws/{name}",
        "originalContent": "old",
        "newContent": "new",
        "fileDiff": f"patch of {name}",
        "diffStat": {"model_added_lines": added, "model_removed_lines": removed},
        **other,
    }


def user(message_id: str) -> JsonObject:
    return {"id": message_id, "type": "user", "content": "text"}


def answer(*displays: Any) -> JsonObject:
    return {
        "id": "g",
        "type": "gemini",
        "toolCalls": [{"resultDisplay": each} for each in displays],
    }


MESSAGES = [
    user("one"),
    answer(edit("a", 2, 1)),
    user("two"),
    answer(edit("b", 3), "text", None),
    answer(edit("b", 1, 4)),
    user("three"),
]


def test_edits_come_newest_first() -> None:
    found = edits_after(MESSAGES, "one")
    assert found is not None
    assert [each.name for each in found if isinstance(each, RecordedEdit)] == ["b", "b", "a"]


def test_a_message_that_is_not_there_has_no_edits() -> None:
    assert edits_after(MESSAGES, "four") is None
    assert change_of_turn(MESSAGES, "four") is None
    assert change_since(MESSAGES, "four") is None


def test_the_change_of_a_turn_ends_at_the_next_message_of_the_user() -> None:
    of_turn, since = change_of_turn(MESSAGES, "one"), change_since(MESSAGES, "one")
    assert of_turn is not None
    assert since is not None
    assert (of_turn.added_lines, of_turn.removed_lines, of_turn.file_count) == (2, 1, 1)
    assert (since.added_lines, since.removed_lines, since.file_count) == (6, 5, 2)
    assert [name for name, _ in since.details] == ["a", "b", "b"]
    assert change_of_turn(MESSAGES, "three") is None


@pytest.mark.parametrize("wrong", ["fileName", "filePath", "newContent", "originalContent"])
def test_an_edit_with_a_value_of_another_type_is_given_as_it_was_recorded(wrong: str) -> None:
    shown = edit("a", **{wrong: 5})
    assert edits_after([user("one"), answer(shown)], "one") == [shown]


@pytest.mark.parametrize("calls", [None, "text", ["text"], [{}], [{"resultDisplay": {}}]])
def test_calls_of_another_form_hold_no_edits(calls: Any) -> None:
    message = {"id": "g", "type": "gemini", "toolCalls": calls}
    assert edits_after([user("one"), message], "one") == []
    assert change_since([user("one"), message], "one") is None


def test_wrong_numbers_and_names_count_as_nothing() -> None:
    shown = edit("a", fileName=5, fileDiff=None, diffStat={"model_added_lines": "x"})
    change = change_since([user("one"), answer(shown)], "one")
    assert change is not None
    assert (change.added_lines, change.details) == (0, (("", ""),))
