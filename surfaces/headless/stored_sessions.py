"""The sessions that were recorded in a folder: listing, deleting and importing them.

Source: `packages/cli` `utils/sessions.ts`, `utils/sessionUtils.ts`, `gemini.tsx`
(`resolveSessionId`).
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Final

from services.clock import Clock, iso_timestamp
from services.ids import IdSource
from services.private_files import make_private_folder, write_private
from services.recording.deletion import delete_stored_session
from services.recording.describing import describe_recording
from services.recording.loading import load_conversation_record
from services.recording.session_file import json_line
from services.wire import JsonObject
from services.workspace import Workspace
from surfaces.headless.sessions import (
    NoSessions,
    RecordedSession,
    SessionNotFound,
    find_session,
    recorded_sessions,
)
from surfaces.headless.streams import Streams

__all__ = ["ImportFailed", "delete_session", "import_session", "list_sessions"]

_LONGEST_TITLE: Final = 100
_MS: Final = 1000
_STEPS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_SPOKEN: Final = ("user", "gemini")


class ImportFailed(ValueError):
    """A file cannot be resumed; the message says why."""


def list_sessions(workspace: Workspace, clock: Clock, streams: Streams) -> None:
    """Print the folder's sessions, oldest first, under the numbers that `--resume` takes.

    Raises:
        OutputClosed: the reader of the output has closed it.
    """
    sessions = recorded_sessions(workspace.project_temp, clock)
    if not sessions:
        streams.write(f"{NoSessions()}\n")
        return
    streams.write(f"\nAvailable sessions for this project ({len(sessions)}):\n")
    for number, session in enumerate(sessions, start=1):
        title, time = _shortened(session.title), _ago(session.updated, clock)
        streams.write(f"  {number}. {title} ({time}) [{session.session_id}]\n")


def delete_session(workspace: Workspace, asked: str, clock: Clock, streams: Streams) -> None:
    """Delete a session, by its number or its id, and everything that it left.

    Raises:
        NoSessions, SessionNotFound: there is no such session.
        ValueError: the session's id is shorter than its part in the files' names.
        OSError: the folder of the recordings cannot be read.
        OutputClosed: the reader of the output has closed it.
    """
    project = workspace.project_temp
    sessions = recorded_sessions(project, clock)
    if asked.strip() == "latest" and sessions:
        # As published: a deletion needs the session's name, so that a slip costs nothing.
        raise SessionNotFound(asked, project / "chats")
    session = find_session(project, asked, clock)
    number = 1 + [one.session_id for one in sessions].index(session.session_id)
    delete_stored_session(project, session.session_id)
    time = _ago(session.updated, clock)
    streams.write(f"Deleted session {number}: {session.title} ({time})\n")


def import_session(
    file: Path, workspace: Workspace, clock: Clock, ids: IdSource
) -> RecordedSession:
    """Copy the conversation of a session file into a new recording of this folder.

    Raises:
        ImportFailed: `file` is missing, or is not a recording.
        OSError: the new recording cannot be written.
    """
    described, record = describe_recording(file, clock), load_conversation_record(file, clock)
    if described is None or record is None:
        raise ImportFailed(f"File not found or invalid format: {file}")
    now_ms = clock.now_ms()
    now, session_id = iso_timestamp(now_ms), ids.uuid("session")
    note: JsonObject = {
        "id": f"import-{now_ms}",
        "type": "info",
        "content": f"Imported session from {file}",
        "timestamp": now,
    }
    spoken = [
        message
        for message in record.messages
        if message.get("type") in _SPOKEN and "content" in message
    ]
    metadata = {
        **described.fields,
        "messageCount": len(record.messages),
        "sessionId": session_id,
        "projectHash": workspace.project_hash,
        "startTime": now,
        "lastUpdated": now,
    }
    chats = workspace.project_temp / "chats"
    make_private_folder(chats)
    copy = chats / f"session-{now_ms}-{session_id[:8]}.jsonl"
    write_private(copy, b"".join(map(json_line, (metadata, note, *spoken))))
    return RecordedSession(session_id=session_id, file=copy, started=now, updated=now)


def _shortened(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 3]}..."


def _ago(then: str, clock: Clock) -> str:
    """How long ago an ISO 8601 time is, in its largest whole unit from minutes up."""
    try:
        moment_s = datetime.fromisoformat(re.sub(r"Z$", "+00:00", then)).timestamp()
    except ValueError:
        return then
    passed_s = clock.now_ms() / _MS - moment_s
    for seconds, unit in _STEPS:
        count = int(passed_s // seconds)
        if count > 0:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "Just now"
