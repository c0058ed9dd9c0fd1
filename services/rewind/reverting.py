"""Takes recorded edits back, newest first.

A file that is as the edit left it becomes what it was before. In a file that has changed since,
only the edit is taken back, if it still fits.

Source: gemini-cli `packages/cli/src/ui/utils/rewindFileOps.ts` (`revertFileChanges`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.patching import applied_change
from services.paths import real_path
from services.rewind.edits import RecordedEdit, edits_after
from services.state import UserFeedback
from services.tools.paths import absolute, access_error
from services.tools.text_files import TextFileError, read_if_there, write_text
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["Conflict", "Delete", "Revert", "Write", "planned", "revert_files"]

logger = logging.getLogger(__name__)

_REPLACED: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class Write:
    """Write this text to the file."""

    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the file."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Leave the file as it is, and report why."""

    message: str


Revert = Write | Delete | Conflict
"""How an edit is taken back."""


def planned(edit: RecordedEdit, current: str | None) -> Revert:
    """Decide how to take back an edit of a file with the text `current`, `None` if it is gone."""
    if current is None:
        return Conflict(
            f"Cannot revert changes for {edit.name} because it was not found on disk. This is "
            "expected if a file created by the agent was deleted before rewind"
        )
    if current == edit.after:
        return Delete() if edit.is_new else Write(edit.before)
    # Writing would replace the bytes that are no UTF-8.
    text = None if _REPLACED in current else applied_change(current, edit.after, edit.before)
    if text is None:
        return Conflict(
            f"Smart revert for {edit.name} failed. The file may have been modified in a way that "
            "conflicts with the undo operation."
        )
    return Delete() if edit.is_new and not text else Write(text)


def revert_files(
    messages: Sequence[JsonObject],
    message_id: str,
    workspace: Workspace,
    report: Callable[[UserFeedback], None],
) -> None:
    """Take back the edits after a message.

    Paths that tools may not use are left alone. A file that cannot be read ends the whole revert;
    any other problem ends that of one edit.

    Args:
        messages: The messages of a chat recording, oldest first.
        message_id: The message; an unknown one changes nothing.
        workspace: Its folders, and what tools may use in addition, hold the files.
        report: Receives what could not be taken back, and why.
    """
    edits = edits_after(messages, message_id)
    if edits is None:
        logger.error("the message to revert to, %s, is not in the recording", message_id)
        return
    for edit in edits:
        if not isinstance(edit, RecordedEdit):
            name = edit.get("fileName")
            report(_unexpected(name if isinstance(name, str) else "a file"))
            continue
        located = absolute(workspace.root, edit.path)
        refused = access_error(workspace, located)
        if refused is not None:
            text = f"Cannot revert changes for {edit.name}: {refused}"
            report(UserFeedback(severity="warning", message=text))
            continue
        path = real_path(located)
        try:
            current = read_if_there(path)
        except TextFileError as error:
            text = f"Error reading {edit.name} during revert: {error}"
            report(UserFeedback(severity="error", message=text))
            return
        _carry_out(planned(edit, current), edit, path, report)


def _carry_out(
    revert: Revert, edit: RecordedEdit, path: Path, report: Callable[[UserFeedback], None]
) -> None:
    try:
        match revert:
            case Write(text=text):
                write_text(path, text)
            case Delete():
                path.unlink()
            case Conflict(message=message):
                report(UserFeedback(severity="warning", message=message))
    except (OSError, TextFileError) as error:
        if isinstance(error, OSError):
            notice(error, path)
        logger.warning("%s cannot be reverted: %s", path, error)
        report(_unexpected(edit.name))


def _unexpected(name: str) -> UserFeedback:
    message = f"An unexpected error occurred while reverting {name}."
    return UserFeedback(severity="error", message=message)
