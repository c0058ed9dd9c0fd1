"""What the model learns of the user's editor."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.ide.context import EditorContext, EditorNotes, EditorState, InvalidContext

CURSOR = {"line": 1, "character": 2}


def state(*files: dict[str, Any]) -> EditorState:
    return EditorState.of({"workspaceState": {"openFiles": list(files)}})


def file(path: str, timestamp: int = 0, **facts: Any) -> dict[str, Any]:
    return {"path": path, "timestamp": timestamp, **facts}


def said(note: str | None) -> Any:
    """The facts of a note."""
    assert note is not None
    heading, fence, *lines, end = note.split("\n")
    assert (fence, end) == ("```json", "```")
    assert heading.endswith("This is for your information only.")
    return json.loads("\n".join(lines))


def test_the_first_note_has_the_whole_state() -> None:
    context = EditorContext()
    context.set(
        state(
            file("/w/old.py", 1),
            file("/w/new.py", 2, isActive=True, selectedText="x", cursor=CURSOR),
        )
    )
    assert said(EditorNotes(context).next_note()) == {
        "activeFile": {"path": "/w/new.py", "cursor": CURSOR, "selectedText": "x"},
        "otherOpenFiles": ["/w/old.py"],
    }


def test_only_the_newest_file_can_be_active() -> None:
    found = state(file("/a", 1, isActive=True, selectedText="a"), file("/b", 2))
    assert [(each.path, each.active, each.selected) for each in found.files] == [
        ("/b", False, ""),
        ("/a", False, ""),
    ]


def test_files_and_selections_have_bounds() -> None:
    files = [file(f"/{n}", 99 - n, isActive=n == 0, selectedText="x" * 20_000) for n in range(12)]
    found = state(*files)
    assert len(found.files) == 10
    assert found.files[0].selected == f"{'x' * 16_384}... [TRUNCATED]"


def test_later_notes_have_the_changes() -> None:
    context, notes = EditorContext(), None
    notes = EditorNotes(context)
    context.set(state(file("/a", 2, isActive=True, cursor=CURSOR), file("/b", 1)))
    notes.next_note()
    assert notes.next_note() is None
    context.set(
        state(file("/a", 2, isActive=True, cursor={"line": 3, "character": 1}, selectedText="s"))
    )
    assert said(notes.next_note()) == {
        "changes": {
            "filesClosed": ["/b"],
            "cursorMoved": {"path": "/a", "cursor": {"line": 3, "character": 1}},
            "selectionChanged": {"path": "/a", "selectedText": "s"},
        }
    }
    context.set(state(file("/c", 3, isActive=True), file("/a", 2)))
    assert said(notes.next_note()) == {
        "changes": {"filesOpened": ["/c"], "activeFileChanged": {"path": "/c"}}
    }
    context.set(state(file("/c", 3), file("/a", 2)))
    assert said(notes.next_note()) == {
        "changes": {"activeFileChanged": {"path": None, "previousPath": "/c"}}
    }


def test_another_history_needs_the_whole_state_again() -> None:
    context = EditorContext()
    context.set(state(file("/a", 1)))
    notes = EditorNotes(context)
    notes.next_note()
    notes.restart()
    assert said(notes.next_note()) == {"otherOpenFiles": ["/a"]}


def test_a_lost_companion_is_not_mentioned() -> None:
    context = EditorContext()
    notes = EditorNotes(context)
    assert notes.next_note() is None
    context.set(state(file("/a", 1)))
    notes.next_note()
    context.set(None)
    assert notes.next_note() is None
    context.set(state(file("/a", 1)))
    assert said(notes.next_note()) == {"otherOpenFiles": ["/a"]}


def test_a_notice_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidContext, match="timestamp"):
        EditorState.of({"workspaceState": {"openFiles": [{"path": "/a"}]}})


def test_listeners_learn_of_changes_until_they_leave() -> None:
    context, heard = EditorContext(), list[EditorState | None]()
    leave = context.subscribe(lambda: heard.append(context.present))
    context.set(EditorState())
    leave()
    context.set(None)
    assert heard == [EditorState()]
