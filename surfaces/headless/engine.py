"""Chooses the runtime of a run, and makes it continue a session."""

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
from surfaces.headless.sessions import RecordedSession

__all__ = [
    "check_chosen_runtime",
    "chosen_runtime",
    "open_engine",
    "resume_session",
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
