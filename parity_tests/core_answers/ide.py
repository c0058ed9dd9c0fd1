"""The editor: which one it is, and what the model learns of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from unittest import mock

from parity_tests.core_answers.subject import Subject
from services.ide.addresses import (
    Address,
    address_from_files,
    address_from_variables,
    workspace_problem,
)
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


def _in_folders(ask: Callable[[Callable[[str], str], Path], Any]) -> Any:
    """Ask in a temporary folder with folders of projects; `@` stands for it."""
    with tempfile.TemporaryDirectory(prefix="parity-ide-") as folder:
        root = Path(folder).resolve()
        for each in ("a/sub", "b", "ab"):
            (root / each).mkdir(parents=True)
        (root / "link").symlink_to(root / "a")
        answer = ask(lambda text: text.replace("@", str(root)), root)
        return json.loads(json.dumps(answer).replace(str(root), "@"))


def _plain(address: Address | None) -> Any:
    if address is None:
        return None
    ide = address.ide and {"name": address.ide.name, "displayName": address.ide.display_name}
    return {**asdict(address), "ide": ide}


def _workspace(asked: Any) -> Any:
    opened, here = asked["opened"], asked["here"]
    return _in_folders(
        lambda placed, _: workspace_problem(
            None if opened is None else placed(opened), Path(placed(here))
        )
    )


def _address(asked: Any) -> Any:
    def ask(placed: Callable[[str], str], root: Path) -> Any:
        folder = root / "gemini" / "ide"
        if asked["files"] is not None:
            folder.mkdir(parents=True)
        for name, text in (asked["files"] or {}).items():
            (folder / name).write_text(placed(text), "utf-8")
        with mock.patch.object(tempfile, "tempdir", str(root)):
            here = Path(placed(asked["here"]))
            return _plain(address_from_files(asked["pid"], here, port=asked["port"]))

    return _in_folders(ask)


SUBJECTS: Final = (
    Subject("ide.detected", _detected),
    Subject("ide.notes", _notes),
    Subject("ide.variables", lambda asked: _plain(address_from_variables(asked))),
    Subject("ide.workspace", _workspace),
    Subject("ide.address", _address),
)
