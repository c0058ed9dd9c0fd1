"""`session_to_resume`: the session that the command line asks for."""

from __future__ import annotations

from services.model.errors import FatalInputError
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.sessions import (
    LATEST,
    NoSessions,
    RecordedSession,
    SessionNotFound,
    find_session,
    moved_aside,
    recorded_sessions,
)
from surfaces.headless.stored_sessions import ImportFailed, import_session
from surfaces.headless.streams import Streams

__all__ = ["session_to_resume"]


def session_to_resume(
    options: HeadlessOptions, machine: Machine, streams: Streams
) -> RecordedSession | None:
    """The session to continue; a new one if the latest is requested and none exists.

    Raises:
        FatalInputError: there is no such session, its file cannot be used, or the id of the new
            session is taken.
    """
    if options.session_file is not None:
        try:
            return import_session(
                options.session_file, machine.workspace, machine.clock, machine.ids
            )
        except (ImportFailed, OSError) as error:
            raise FatalInputError(f"Error importing session from file: {error}") from error
    asked = options.resume
    if asked is None:
        _check_new(options.session_id, machine)
        return None
    try:
        found = find_session(machine.workspace.project_temp, asked, machine.clock)
        return moved_aside(found, machine.clock)
    except (NoSessions, SessionNotFound, OSError) as error:
        if isinstance(error, NoSessions) and asked == LATEST:
            streams.report(str(error))
            return None
        raise FatalInputError(f"Error resuming session: {error}") from error


def _check_new(session_id: str | None, machine: Machine) -> None:
    known = recorded_sessions(machine.workspace.project_temp, machine.clock) if session_id else ()
    if any(session.session_id == session_id for session in known):
        raise FatalInputError(
            f'Error starting session: Session ID "{session_id}" already exists. Use --resume to '
            "resume it, or provide a different ID."
        )
