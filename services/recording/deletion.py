"""Deletes recordings, and other files of their sessions.

Source: core `utils/sessionOperations.ts`.
"""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.output_files import safe_filename_part, tool_outputs_folder
from services.regular_files import MOST_TEXT, read_regular

__all__ = ["delete_session_artifacts", "delete_stored_session", "session_short_id"]

logger = logging.getLogger(__name__)

_PREFIX: Final = "session-"
_SHORT: Final = 8
_RESERVED: Final = frozenset({"chats", "logs", "tool-outputs"})


def delete_session_artifacts(session_id: str, project_temp: Path) -> None:
    """Remove a session's log, its tool outputs and its own folder; missing ones are no error.

    Errors are logged. A session id equal to one of the project's own folders does not remove that
    folder.
    """
    try:
        name = _safe(session_id)
        (project_temp / "logs" / f"{_PREFIX}{name}.jsonl").unlink(missing_ok=True)
        _remove_folder(tool_outputs_folder(project_temp, session_id))
        if name.lower() not in _RESERVED:
            _remove_folder(project_temp / name)
    except (OSError, ValueError) as error:
        logger.warning("what session %s left cannot be removed: %s", session_id, error)


def session_short_id(id_or_name: str) -> str:
    """The eight characters of a session's id, or of its file's name, that its files end in.

    Raises:
        ValueError: `id_or_name` is neither.
    """
    if id_or_name.startswith(_PREFIX):
        short = id_or_name.removesuffix("l").removesuffix(".json").rpartition("-")[2]
    elif len(id_or_name) >= _SHORT:
        short = id_or_name[:_SHORT]
    else:
        raise ValueError("Invalid sessionId or basename provided for deletion")
    if len(short) != _SHORT:
        raise ValueError("Derived shortId must be exactly 8 characters")
    return short


def delete_stored_session(project_temp: Path, id_or_name: str) -> None:
    """Remove the recordings and files of a session and of its subagents.

    Raises:
        ValueError: `id_or_name` is neither a session's id nor its file's name.
        OSError: the folder of the recordings cannot be read.
    """
    chats = project_temp / "chats"
    short = session_short_id(id_or_name)
    if not chats.is_dir():
        return
    endings = (f"-{short}.json", f"-{short}.jsonl")
    for file in sorted(chats.iterdir()):
        if file.name.startswith(_PREFIX) and file.name.endswith(endings):
            _delete_recording(file, project_temp)


def _delete_recording(file: Path, project_temp: Path) -> None:
    session_id = _session_of(file)
    if session_id:
        delete_session_artifacts(session_id, project_temp)
        _delete_subagents(session_id, file.parent, project_temp)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        notice(error, file)
        logger.warning("%s cannot be removed: %s", file, error)


def _session_of(file: Path) -> str | None:
    """The session id in the first line, or in the whole document of old versions."""
    try:
        whole = read_regular(file, MOST_TEXT).decode(errors="replace")
        texts = (whole.split("\n", 1)[0], whole)
    except OSError as error:
        notice(error, file)
        logger.warning("%s cannot be read: %s", file, error)
        return None
    for text in texts:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            continue
        found = document.get("sessionId") if isinstance(document, dict) else None
        if isinstance(found, str):
            return found
    return None


def _delete_subagents(session_id: str, chats: Path, project_temp: Path) -> None:
    try:
        folder = chats / _safe(session_id)
        files = list(folder.iterdir()) if folder.is_dir() else []
        for file in files:
            if file.is_file() and file.suffix in (".json", ".jsonl"):
                delete_session_artifacts(file.stem, project_temp)
        _remove_folder(folder)
    except (OSError, ValueError) as error:
        logger.warning("the subagents of session %s cannot be removed: %s", session_id, error)


def _remove_folder(folder: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(folder)


def _safe(session_id: str) -> str:
    """The id as a file's name.

    Raises:
        ValueError: it names no file, or a folder above.
    """
    if session_id in ("", ".", ".."):
        raise ValueError(f"Invalid sessionId: {session_id}")
    return safe_filename_part(session_id)
