"""`GcliSessionService`: live sessions for the Runner, and the archive behind each.

The Runner scans every event of a session at each invocation and step, so a session that kept them
all would make each turn cost more than the one before. Here a session holds what the current
invocation still works on: the pending user turn, the model's call, its answer. What is settled
goes into the session's `Conversation`, which the contents processor reads. Each event is taken in
once; partial events are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from google.genai import types

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Answer, ChildToolsDone, ToolsDone, WireContent, note_of, wire_of
from services.clock import Clock
from services.output_masking import MaskedResponse
from services.wire import Part

__all__ = ["GcliSessionService"]

_Key = tuple[str, str, str]


class GcliSessionService(BaseSessionService):
    """Authoritative sessions, keyed by app, user and session. `get_session` hands out the live one.

    Only a caller who asks for a filter gets a copy.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._live: dict[_Key, Session] = {}
        self._archives: dict[_Key, Conversation] = {}

    def open(self, *, app_name: str, user_id: str, session_id: str) -> Session:
        """Make a session without anything in it.

        Raises:
            AlreadyExistsError: there is one with this id.
        """
        key = (app_name, user_id, session_id)
        if key in self._live:
            raise AlreadyExistsError(f"Session with id {session_id} already exists.")
        session = Session(
            id=session_id,
            app_name=app_name,
            user_id=user_id,
            last_update_time=self._clock.now_ms() / 1000,
        )
        self._live[key] = session
        return session

    def archive(self, session: Session) -> Conversation:
        """The settled part of a session.

        Raises:
            KeyError: nothing was attached to this session.
        """
        return self._archives[_key(session)]

    def attach(self, session: Session, conversation: Conversation) -> None:
        """Give a session its archive; its model turns go there from now on.

        Several sessions may share one: agents that take turns in one conversation each have a
        session of their own for what is still under way.
        """
        self._archives[_key(session)] = conversation

    def pending(self, session: Session) -> types.Content | None:
        """The user-role turn that waits to be sent; `None` when the last event is not one."""
        content = session.events[-1].content if session.events else None
        return content if content is not None and content.role == "user" else None

    def pending_parts(self, session: Session) -> list[Part]:
        """The parts of the turn that waits to be sent, as the API's JSON."""
        content = self.pending(session)
        return [] if content is None else wire_of(content).get("parts") or []

    def extend_pending(self, session: Session, parts: list[Part]) -> None:
        """Give the turn that waits to be sent other parts."""
        event = session.events[-1]
        if event.content is not None:
            wire = wire_of(event.content)
            event.content = WireContent.of({**wire, "parts": parts}, note_of(event))

    def drop(self, conversation: Conversation) -> None:
        """Forget the live sessions over a conversation whose history becomes another one."""
        for key, archive in self._archives.items():
            if archive is conversation:
                self._live.pop(key, None)

    def reopened(self, session: Session) -> Session:
        """The live session; made anew, over the archive as it is now, where it was dropped."""
        return self._live.get(_key(session)) or self.open(
            app_name=session.app_name, user_id=session.user_id, session_id=session.id
        )

    def write_back(self, session: Session, masked: Mapping[str, MaskedResponse]) -> None:
        """Put masked responses, by their call ids, into the live events before the pending turn."""
        settled = len(session.events) - (self.pending(session) is not None)
        for event in session.events[:settled]:
            if event.content is None:
                continue
            wire = wire_of(event.content)
            old: list[Part] = wire.get("parts") or []
            parts = [_written(part, masked) for part in old]
            if any(new is not part for new, part in zip(parts, old, strict=True)):
                event.content = WireContent.of({**wire, "parts": parts}, note_of(event))

    def discard_pending(self, session: Session) -> None:
        """Forget a user-role turn that will not be sent after all."""
        if self.pending(session) is not None:
            session.events.pop()

    def settle(self, session: Session) -> None:
        """Forget the events of an invocation that is over; what matters of them is archived."""
        session.events.clear()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Make a session.

        Raises:
            AlreadyExistsError: there is one with this id.
            ValueError: no id was given; sessions here are named by their conversation.
        """
        if not session_id:
            raise ValueError("a session needs the id of its conversation")
        session = self.open(app_name=app_name, user_id=user_id, session_id=session_id)
        session.state.update(state or {})
        return session

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """The live session; a copy with some of its events when `config` filters."""
        session = self._live.get((app_name, user_id, session_id))
        if session is None or config is None:
            return session
        events = list(session.events)
        if config.num_recent_events is not None:
            events = events[-config.num_recent_events :] if config.num_recent_events else []
        if config.after_timestamp is not None:
            events = [event for event in events if event.timestamp >= config.after_timestamp]
        return session.model_copy(update={"events": events, "state": dict(session.state)})

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Sessions without their events and state, least recently used first."""
        found = [
            session.model_copy(update={"events": [], "state": {}})
            for (app, user, _), session in self._live.items()
            if app == app_name and user_id in (None, user)
        ]
        found.sort(key=lambda session: session.last_update_time)
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forget a session and its archive; does nothing when there is none."""
        self._live.pop((app_name, user_id, session_id), None)
        self._archives.pop((app_name, user_id, session_id), None)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Take an event in, once.

        A model's answer goes to the archive at once. A batch of tool responses closes its round:
        the events before it are settled. Events without content only pass through.
        """
        if event.partial or event.content is None:
            return event
        note = note_of(event)
        if isinstance(note, Answer):
            self.archive(session).answer(note.turn, note.model)
        elif isinstance(note, (ToolsDone, ChildToolsDone)):
            session.events.clear()
        event = await super().append_event(session, event)
        session.last_update_time = event.timestamp
        return event


def _written(part: Part, masked: Mapping[str, MaskedResponse]) -> Part:
    change = masked.get((part.get("functionResponse") or {}).get("id") or "")
    return part if change is None else change.part


def _key(session: Session) -> _Key:
    return (session.app_name, session.user_id, session.id)
