"""The editor: which one it is, and what the model learns of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.ide.context import EditorContext, EditorNotes, EditorState, InvalidContext
from services.ide.detection import detected_ide

__all__ = ["SUBJECTS"]


_LONG: Final = 2000


def _detected(asked: Any) -> Any:
    ide = detected_ide(asked["variables"], asked["command"])
    if ide is None:
        return None
    found = asdict(ide)
    return {"name": found["name"], "displayName": found["display_name"]}


def _brief(note: str | None) -> Any:
    """A long note as its length and its end."""
    return [len(note), note[-60:]] if note and len(note) > _LONG else note


def _notes(steps: Any) -> Any:
    context = EditorContext()
    notes = EditorNotes(context)
    answers: list[Any] = []
    for method, *given in steps:
        if method == "set":
            try:
                context.set(EditorState.of(given[0]))
            except InvalidContext:
                answers.append(False)
            else:
                answers.append(True)
        elif method == "clear":
            context.set(None)
        elif method == "restart":
            notes.restart()
        else:
            answers.append(_brief(notes.next_note()))
    return answers


SUBJECTS: Final = (Subject("ide.detected", _detected), Subject("ide.notes", _notes))
