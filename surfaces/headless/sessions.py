"""Finds the recording to resume: the latest, by its number, or by its id.

Source: `packages/cli` `utils/sessionUtils.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from services.clock import Clock, iso_timestamp
from services.recording.describing import describe_recording
from services.wire import JsonObject

__all__ = [
    "LATEST",
    "NoSessions",
    "RecordedSession",
    "SessionNotFound",
    "find_session",
    "moved_aside",
    "recorded_sessions",
]

LATEST: Final = "latest"
_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]+")


class NoSessions(LookupError):
    """Nothing was recorded for this project."""

    def __init__(self) -> None:
        super().__init__("No previous sessions found for this project.")


class SessionNotFound(LookupError):
    """No recording matches the request."""

    def __init__(self, asked: str, folder: Path) -> None:
        super().__init__(
            f'Invalid session identifier "{asked}".\n  Searched for sessions in {folder}.\n'
            "  Use --list-sessions to see available sessions, then use --resume {number}, --resume "
            "{uuid}, or --resume latest."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSession:
    """A recording that can be resumed. Times are ISO 8601."""

    session_id: str
    file: Path
    started: str
    updated: str
    title: str = ""
    """The session's subject, in one line of ASCII: its summary, or its first message."""
    messages: int = 0
    """How many messages the recording has."""
    folders: tuple[Path, ...] = ()
    """The folders of the workspace, where the user has added some."""

    @property
    def updated_ms(self) -> int:
        """When the recording last changed, in Unix milliseconds; 0: it has no such time."""
        try:
            return round(datetime.fromisoformat(self.updated).timestamp() * 1000)
        except (ValueError, OverflowError):
            return 0


def find_session(project_temp: Path, asked: str, clock: Clock) -> RecordedSession:
    """The recording called `asked`: `latest`, a number counted from 1, oldest first, or an id.

    Recordings of subagents, and those without conversation, do not count. Of several of one
    session the latest counts.

    Raises:
        NoSessions: the project has no recordings.
        SessionNotFound: there are some, but not that one.
    """
    folder = project_temp / "chats"
    wanted = asked.strip()
    sessions = recorded_sessions(project_temp, clock)
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


def recorded_sessions(project_temp: Path, clock: Clock) -> list[RecordedSession]:
    """The project's sessions that can be resumed, oldest first."""
    by_id: dict[str, RecordedSession] = {}
    for file in sorted((project_temp / "chats").glob("session-*")):
        if file.suffix not in (".json", ".jsonl"):
            continue
        record = describe_recording(file, clock)
        fields = record.fields if record is not None else {}
        if not fields.get("hasResumableContent") or fields.get("kind") == "subagent":
            continue
        session = RecordedSession(
            session_id=str(fields["sessionId"]),
            file=file,
            started=str(fields["startTime"]),
            updated=str(fields["lastUpdated"]),
            title=_title(fields),
            messages=int(fields.get("messageCount") or 0),
            folders=tuple(_folders(fields.get("directories"))),
        )
        known = by_id.get(session.session_id)
        if known is None or session.updated > known.updated:
            by_id[session.session_id] = session
    return sorted(by_id.values(), key=lambda session: session.started)


def moved_aside(session: RecordedSession, clock: Clock) -> RecordedSession:
    """`session` under a file name that no new recording gets.

    An engine begins a recording when it opens. In the minute in which `session` began, that
    recording would have the same name, and replace the conversation, as over ACP in the published
    program, before a resume reads it.
    Only then is the file renamed.

    Raises:
        OSError: the file cannot be renamed.
    """
    minute = iso_timestamp(clock.now_ms())[:16].replace(":", "-")
    if minute not in session.file.name:
        return session
    ending = f"{session.session_id[:8]}{session.file.suffix}"
    file = session.file.with_name(f"session-{clock.now_ms()}-{ending}")
    return replace(session, file=session.file.rename(file))


def _folders(recorded: Any) -> Iterable[Path]:
    listed = recorded if isinstance(recorded, list) else ()
    return (Path(name) for name in listed if isinstance(name, str) and "\0" not in name)


def _title(fields: JsonObject) -> str:
    words = fields.get("summary") or fields.get("firstUserMessage")
    if not isinstance(words, str):
        return "Empty conversation"
    return _UNPRINTABLE.sub("", " ".join(words.split()))
