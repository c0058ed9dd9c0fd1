"""The path of a new recording, and the lines of one that is written anew.

Source: core `services/chatRecordingService.ts` (`initialize`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from services.output_files import safe_filename_part
from services.recording.records import ConversationRecord
from services.wire import JsonObject

__all__ = ["migrated_lines", "recording_path", "rewritten_lines"]

_MIGRATED = ("projectHash", "startTime", "lastUpdated", "kind", "directories", "summary")


def recording_path(
    project_temp: Path, session_id: str, started: str, *, kind: str, parent_session_id: str | None
) -> Path:
    """Where a new recording goes. `started` is ISO 8601; minutes of it are in the name.

    Raises:
        ValueError: a session id names no file.
    """
    folder = project_temp / "chats"
    name = _safe(session_id, "sessionId")
    if kind == "subagent":
        if parent_session_id:
            folder /= _safe(parent_session_id, "parentSessionId")
        return folder / f"{name}.jsonl"
    return folder / f"session-{started[:16].replace(':', '-')}-{name[:8]}.jsonl"


def migrated_lines(
    session_id: str, record: ConversationRecord, messages: Sequence[JsonObject]
) -> list[JsonObject]:
    """The lines for a document of an old version."""
    metadata: JsonObject = {"sessionId": session_id}
    metadata |= {key: record.fields[key] for key in _MIGRATED if key in record.fields}
    return [metadata, *messages, *_scratchpad(record)]


def rewritten_lines(record: ConversationRecord, messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The lines of a recording whose file was lost while it was being resumed."""
    metadata = {key: value for key, value in record.fields.items() if key != "memoryScratchpad"}
    return [metadata, *messages, *_scratchpad(record)]


def _safe(session_id: str, what: str) -> str:
    name = safe_filename_part(session_id)
    if not name:
        raise ValueError(f"Invalid {what} after sanitization: {session_id}")
    return name


def _scratchpad(record: ConversationRecord) -> list[JsonObject]:
    scratchpad = record.fields.get("memoryScratchpad")
    return [] if scratchpad is None else [{"$set": {"memoryScratchpad": scratchpad}}]
