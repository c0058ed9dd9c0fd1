"""The recorded sessions of the folder: the browser, and what a resumed session shows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from runtimes.contract import KeepsRecording
from services.bundle import Services
from services.clock import Clock
from services.recording.deletion import delete_stored_session
from services.recording.loading import load_conversation_record
from surfaces.commands.histories import items_of_recording
from surfaces.commands.results import Item, ItemKind
from surfaces.headless.sessions import RecordedSession, recorded_sessions
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.dialogs.sessions import SessionBrowser
from surfaces.terminal.live import LiveSession

__all__ = ["browse_sessions", "conversation_of", "earlier_prompts"]

_MOST_SESSIONS: Final = 20
"""The sessions whose prompts can be recalled."""


async def browse_sessions(services: Services, host: DialogHost) -> RecordedSession | None:
    """Let the user choose one of the folder's sessions; `None`: none was chosen."""
    project, clock = services.workspace.project_temp, services.clock
    with clock.real_work():
        sessions = await asyncio.to_thread(recorded_sessions, project, clock)

    async def read() -> Mapping[str, str]:
        with clock.real_work():
            return await asyncio.to_thread(_words, sessions, clock)

    async def delete(session: RecordedSession) -> None:
        await asyncio.to_thread(delete_stored_session, project, session.session_id)

    browser = SessionBrowser(
        sessions,
        current=services.state.session_id,
        now_ms=clock.now_ms(),
        read=read,
        delete=delete,
    )
    return await host.ask(browser)


async def earlier_prompts(services: Services) -> list[str]:
    """The prompts of the folder's latest sessions, without the open one, oldest first."""
    project, clock = services.workspace.project_temp, services.clock
    present = services.state.session_id

    def read() -> list[str]:
        sessions = [
            each for each in recorded_sessions(project, clock) if each.session_id != present
        ]
        records = (
            load_conversation_record(each.file, clock) for each in sessions[-_MOST_SESSIONS:]
        )
        items = [items_of_recording(record.messages) for record in records if record is not None]
        return [item.text for each in items for item in each if item.kind is ItemKind.USER]

    return await asyncio.to_thread(read)


def conversation_of(session: LiveSession) -> tuple[Item, ...]:
    """What the recording of a resumed session shows; nothing for a new session."""
    runtime = session.runtime
    if session.prepared.resumed is None or not isinstance(runtime, KeepsRecording):
        return ()
    return items_of_recording(runtime.recorded)


def _words(sessions: list[RecordedSession], clock: Clock) -> Mapping[str, str]:
    words = {}
    for session in sessions:
        record = load_conversation_record(session.file, clock)
        items = items_of_recording(record.messages) if record is not None else ()
        words[session.session_id] = " ".join(" ".join(item.text.split()) for item in items)
    return words
