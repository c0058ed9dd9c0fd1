"""`EditorContext`: the files that are open in the user's editor, and what the model learns of them.

Source: core `ide/ideContext.ts`, `ide/types.ts`; `core/client.ts`, `getIdeContextParts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from services.wire import Json, JsonObject, js_json_pretty
from services.zod import ZOD3, Issue

__all__ = ["EditorContext", "EditorNotes", "EditorState", "InvalidContext", "OpenFile"]

_MOST_FILES: Final = 10
_MOST_SELECTED: Final = 16_384
"""Characters of a selection that the model may see."""
_CUT: Final = "... [TRUNCATED]"
_WHOLE: Final = (
    "Here is the user's editor context as a JSON object. This is for your information only."
)
_CHANGES: Final = (
    "Here is a summary of changes in the user's editor context, in JSON format. "
    "This is for your information only."
)
_CURSOR: Final = ZOD3.mapping({"line": ZOD3.number(), "character": ZOD3.number()})
_FILE: Final = ZOD3.mapping(
    {
        "path": ZOD3.text(),
        "timestamp": ZOD3.number(),
        "isActive": ZOD3.optional(ZOD3.boolean()),
        "selectedText": ZOD3.optional(ZOD3.text()),
        "cursor": ZOD3.optional(_CURSOR),
    }
)
_WORKSPACE: Final = ZOD3.mapping(
    {
        "openFiles": ZOD3.optional(ZOD3.array(_FILE)),
        "isTrusted": ZOD3.optional(ZOD3.boolean()),
    }
)
_SHAPE: Final = ZOD3.mapping({"workspaceState": ZOD3.optional(_WORKSPACE)})


class InvalidContext(ValueError):
    """A notice about the editor that is not as it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """A file that is open in the editor. At most one is active."""

    path: str
    active: bool = False
    selected: str = ""
    """The selected text of the active file."""
    cursor: JsonObject | None = None
    """`{line, character}`, both from 1, of the active file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorState:
    """What the editor shows. The file that was used last comes first."""

    files: tuple[OpenFile, ...] = ()
    trusted: bool | None = None
    """Whether the IDE trusts the workspace; `None`: it does not say."""

    @property
    def active(self) -> OpenFile | None:
        """The file that the user works in."""
        return next((file for file in self.files if file.active), None)

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> EditorState:
        """The state that a notice `ide/contextUpdate` reports.

        Raises:
            InvalidContext: it has another shape.
        """
        issues: list[Issue] = []
        found = _SHAPE(dict(params), (), issues)
        if issues:
            raise InvalidContext(f"ide/contextUpdate: {issues[0].path}: {issues[0].message}")
        state = found.get("workspaceState") or {}
        newest_first = sorted(
            state.get("openFiles") or (), key=lambda file: file["timestamp"], reverse=True
        )
        return cls(files=_files(newest_first), trusted=state.get("isTrusted"))


class EditorContext:
    """The present state of one session's editor; `None` while no companion has reported one."""

    def __init__(self) -> None:
        self.present: EditorState | None = None
        self._listeners: list[Callable[[], None]] = []

    def set(self, state: EditorState | None) -> None:
        """Replace the state, and call the listeners."""
        self.present = state
        for listener in list(self._listeners):
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every change; return what ends that."""
        self._listeners.append(listener)

        def remove() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return remove


class EditorNotes:
    """What one conversation's model knows of the editor: the whole first, and then the changes."""

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._known: EditorState | None = None

    def restart(self) -> None:
        """Begin with the whole state again: the history was replaced."""
        self._known = None

    def next_note(self) -> str | None:
        """The text that brings the model up to date; `None` where it has nothing to learn."""
        present, known = self._context.present, self._known
        self._known = present
        if present is None:
            return None
        if known is None:
            return _note(_WHOLE, _whole(present))
        changes = _changes(known, present)
        return _note(_CHANGES, {"changes": changes} if changes else {})


def _files(reported: list[JsonObject]) -> tuple[OpenFile, ...]:
    """The files with the newest as the only one that may be active."""
    files = [OpenFile(path=file["path"]) for file in reported]
    if reported and reported[0].get("isActive"):
        selected = _shortened(reported[0].get("selectedText") or "")
        cursor = reported[0].get("cursor")
        files[0] = replace(files[0], active=True, selected=selected, cursor=cursor)
    return tuple(files[:_MOST_FILES])


def _shortened(text: str) -> str:
    """The text, or its begin in JavaScript's units of two bytes; no pair is split."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * _MOST_SELECTED:
        return text
    return f"{units[: 2 * _MOST_SELECTED].decode('utf-16-le', 'ignore')}{_CUT}"


def _note(heading: str, facts: JsonObject) -> str | None:
    if not facts:
        return None
    return "\n".join((heading, "```json", js_json_pretty(facts), "```"))


def _whole(state: EditorState) -> JsonObject:
    facts: JsonObject = {}
    if state.active is not None:
        facts["activeFile"] = _shown(state.active)
    others: Json = [file.path for file in state.files if not file.active]
    if others:
        facts["otherOpenFiles"] = others
    return facts


def _shown(file: OpenFile) -> JsonObject:
    shown: JsonObject = {"path": file.path}
    if file.cursor is not None:
        shown["cursor"] = file.cursor
    if file.selected:
        shown["selectedText"] = file.selected
    return shown


def _changes(before: EditorState, after: EditorState) -> JsonObject:
    old, new = ([*dict.fromkeys(file.path for file in state.files)] for state in (before, after))
    changes: JsonObject = {}
    opened = [path for path in new if path not in old]
    if opened:
        changes["filesOpened"] = opened
    closed = [path for path in old if path not in new]
    if closed:
        changes["filesClosed"] = closed
    changes.update(_active_changes(before.active, after.active))
    return changes


def _active_changes(before: OpenFile | None, after: OpenFile | None) -> JsonObject:
    if after is None:
        gone = before and {"path": None, "previousPath": before.path}
        return {"activeFileChanged": gone} if gone else {}
    if before is None or before.path != after.path:
        return {"activeFileChanged": _shown(after)}
    changes: JsonObject = {}
    if after.cursor is not None and after.cursor != before.cursor:
        changes["cursorMoved"] = {"path": after.path, "cursor": after.cursor}
    if after.selected != before.selected:
        changes["selectionChanged"] = {"path": after.path, "selectedText": after.selected}
    return changes
