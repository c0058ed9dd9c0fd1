"""Finding the recording to go on from: the latest, by its number, or by its id.

Source: `packages/cli` `utils/sessionUtils.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.clock import Clock
from services.recording.loading import load_conversation_record

__all__ = ["LATEST", "NoSessions", "RecordedSession", "SessionNotFound", "find_session"]

LATEST: Final = "latest"


class NoSessions(LookupError):
    """Nothing was recorded for this project."""

    def __init__(self) -> None:
        super().__init__("No previous sessions found for this project.")


class SessionNotFound(LookupError):
    """No recording is what was asked for."""

    def __init__(self, asked: str, folder: Path) -> None:
        super().__init__(
            f'Invalid session identifier "{asked}".\n  Searched for sessions in {folder}.\n'
            "  Use --resume {number}, --resume {uuid}, or --resume latest."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSession:
    """A recording that can be gone on from. Times are ISO 8601."""

    session_id: str
    file: Path
    started: str
    updated: str


def find_session(project_temp: Path, asked: str, clock: Clock) -> RecordedSession:
    """The recording called `asked`: `latest`, a number counted from 1, oldest first, or an id.

    Recordings of subagents, and those in which nothing was said, do not count. Of several of one
    session the one that was written to last is it.

    Raises:
        NoSessions: there is none at all.
        SessionNotFound: there are some, but not that one.
    """
    folder = project_temp / "chats"
    wanted = asked.strip()
    sessions = _sessions(folder, clock)
    if not sessions:
        raise NoSessions
    if wanted == LATEST:
        return sessions[-1]
    for session in sessions:
        if session.session_id == wanted:
            return session
    if wanted.isascii() and wanted.isdecimal() and str(int(wanted)) == wanted:
        number = int(wanted)
        if 0 < number <= len(sessions):
            return sessions[number - 1]
    raise SessionNotFound(wanted, folder)


def _sessions(folder: Path, clock: Clock) -> list[RecordedSession]:
    by_id: dict[str, RecordedSession] = {}
    for file in sorted(folder.glob("session-*")):
        if file.suffix not in (".json", ".jsonl"):
            continue
        record = load_conversation_record(file, clock, metadata_only=True)
        fields = record.fields if record is not None else {}
        if not fields.get("hasResumableContent") or fields.get("kind") == "subagent":
            continue
        session = RecordedSession(
            session_id=str(fields["sessionId"]),
            file=file,
            started=str(fields["startTime"]),
            updated=str(fields["lastUpdated"]),
        )
        known = by_id.get(session.session_id)
        if known is None or session.updated > known.updated:
            by_id[session.session_id] = session
    return sorted(by_id.values(), key=lambda session: session.started)
