"""Chooses the runtime of a run, and the session that it resumes."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from runtimes.contract import ConversationCommands, Runtime, RuntimeUnavailable
from runtimes.registry import (
    Surface,
    UnknownRuntime,
    check_runtime,
    choose_session,
    open_runtime,
    open_session,
)
from services.bundle import Services
from services.model.errors import FatalInputError
from services.settings import Settings
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

__all__ = [
    "check_chosen_runtime",
    "chosen_runtime",
    "open_engine",
    "resume_session",
    "session_to_resume",
]


def check_chosen_runtime(name: str) -> None:
    """Check that the requested runtime can be opened.

    Raises:
        FatalInputError: it cannot; the message names those that can, or what is missing.
    """
    try:
        check_runtime(name)
    except UnknownRuntime as error:
        raise FatalInputError(f"{error}; choose one of them with --runtime") from error
    except RuntimeUnavailable as error:
        raise FatalInputError(str(error)) from error


def chosen_runtime(
    name: str | None, settings: Settings, surface: Surface = Surface.NONINTERACTIVE
) -> str:
    """The name of the runtime that `open_engine` opens."""
    return name or choose_session(surface, settings.adk).runtime


def open_engine(name: str | None, services: Services) -> AbstractAsyncContextManager[Runtime]:
    """The runtime called `name`; without a name, the one that the settings' flags choose."""
    if name is None:
        return open_session(Surface.NONINTERACTIVE, services)
    return open_runtime(name, services)


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


async def resume_session(runtime: Runtime, session: RecordedSession) -> None:
    """Make `runtime` continue `session`.

    Raises:
        FatalInputError: it cannot, or the file is not a recording.
    """
    if not isinstance(runtime, ConversationCommands):
        raise FatalInputError(
            "Error resuming session: this runtime cannot go on from a recording; choose another "
            "with --runtime"
        )
    try:
        await runtime.resume(session.file)
    except ValueError as error:
        raise FatalInputError(f"Error resuming session: {error}") from error
