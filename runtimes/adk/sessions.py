"""`GcliSessionService`: the sessions that the Runner and its plugins see.

`session.events` shows the conversation: the events of its settled turns, followed by those of the
current invocation. The settled ones stand for turns that the `Conversation` holds; they are made
when they are read (`session_events`). A session's own state is a working copy of what is stored,
which each invocation gets anew.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import count, takewhile
from typing import Any

from google.adk.artifacts.in_memory_artifact_service import InMemoryArtifactService
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions._rewind_utils import (
    compute_artifact_delta_for_rewind,
    compute_state_delta_for_rewind,
)
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from google.genai import types

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Answer, ToolsDone, note_of
from runtimes.adk.session_events import SessionEvents, SettledTurns, live_events
from services.children.calls import CallsOutcome
from services.clock import Clock
from services.model.sdk_contents import WireContent, wire_of
from services.wire import Content, Part

__all__ = ["GcliSessionService"]


class GcliSessionService(InMemorySessionService):
    """The sessions over one conversation; google-adk's own service keeps any others.

    Agents that take turns in the conversation each have a session of their own for what is still
    under way. They share what is settled, and state. `get_session` returns the live session.
    """

    def __init__(self, conversation: Conversation, clock: Clock) -> None:
        super().__init__()
        self.conversation = conversation
        self._clock = clock
        self._turns = SettledTurns(conversation, clock)
        self._live: dict[tuple[str, str, str], Session] = {}
        self._dropped: set[tuple[str, str, str]] = set()
        """The keys of sessions that a rewind dropped and that are not rebuilt yet."""
        self._state: dict[str, Any] = {}
        """The stored state of these sessions, without the values of an app or a user."""
        self._answered: str | None = None
        """The id of the event that brought the last answer."""
        self._count = count(1)
        self.artifacts = InMemoryArtifactService()
        """What tools and plugins save as artifacts; gone with the process."""

    def next_id(self) -> str:
        """An id for an event or an invocation: the same in every run, and never given twice."""
        return f"adk-event-{next(self._count)}"

    def open(self, *, app_name: str, user_id: str, session_id: str) -> Session:
        """Make a session over the conversation.

        Raises:
            AlreadyExistsError: there is one with this id.
        """
        if session_id in self.sessions.get(app_name, {}).get(user_id, {}):
            raise AlreadyExistsError(f"Session with id {session_id} already exists.")
        session = self._made(app_name, user_id, session_id)
        self.refresh(session)
        return session

    async def current(self, session: Session) -> Session:
        """The live session with the id of `session`; one that a rewind dropped is rebuilt."""
        key = session.app_name, session.user_id, session.id
        return await self._rebuilt(key) if key in self._dropped else session

    def _made(self, app_name: str, user_id: str, session_id: str) -> Session:
        """A live session without events."""
        now = self._clock.now_ms() / 1000
        session = Session(id=session_id, app_name=app_name, user_id=user_id, last_update_time=now)
        known = self.sessions.setdefault(app_name, {}).setdefault(user_id, {})
        known[session_id] = session.model_copy(update={"state": self._state})
        session.events = SessionEvents()
        self._live[app_name, user_id, session_id] = session
        return session

    async def _rebuilt(self, key: tuple[str, str, str]) -> Session:
        """A session with an event for each turn that the rewind left.

        The stored values stay as they are: appending to the store would set those of an app or a
        user to what older events made of them.
        """
        self._dropped.discard(key)
        session = self._made(*key)
        for event in self._turns.events:
            await BaseSessionService.append_event(self, session, event)
        events = self._events_of(session)
        events.settled, events.version = len(events), self._turns.version
        self.refresh(session)
        return session

    def refresh(self, session: Session) -> None:
        """Show what is settled, and give the session a fresh copy of its stored state."""
        self._show(session)
        of_users = self.user_state.get(session.app_name, {})
        session.state.clear()
        for prefix, values in (
            ("", self._state),
            (State.APP_PREFIX, self.app_state.get(session.app_name, {})),
            (State.USER_PREFIX, of_users.get(session.user_id, {})),
        ):
            session.state.update({prefix + key: copy.deepcopy(values[key]) for key in values})

    def contents(self) -> list[Content]:
        """The conversation as the events of its sessions hold it, oldest first.

        The environment's context comes first: no event says it.
        """
        session = next(iter(self._live.values()), None)
        if session is not None:
            self._follow_history(session)
        elif self._turns.outdated:
            self._turns.follow()
        events = self._turns.events if session is None else session.events
        said = [event.content for event in events if event.content is not None]
        return self._turns.with_context([wire_of(content) for content in said])

    def pending(self, session: Session) -> types.Content | None:
        """The user-role turn that waits to be sent: all that came since the model's last answer."""
        contents = [content for _, content in self._unsent(session)]
        if not contents:
            return None
        # It is not in the history yet, so all that is in there is settled.
        self._show(session)
        if len(contents) == 1:
            return contents[0]
        parts = [part for content in contents for part in wire_of(content).get("parts") or ()]
        return WireContent.of({"role": "user", "parts": parts})

    def pending_parts(self, session: Session) -> list[Part]:
        """The parts of the turn that waits to be sent, as the API's JSON."""
        content = self.pending(session)
        return [] if content is None else wire_of(content).get("parts") or []

    def extend_pending(self, session: Session, parts: list[Part]) -> None:
        """Give the turn that waits to be sent other parts."""
        for event, content in self._unsent(session):
            wire = {**wire_of(content), "parts": parts}
            event.content, parts = WireContent.of(wire, note_of(event)), []

    def discard_pending(self, session: Session) -> None:
        """Forget a user-role turn that will not be sent after all, unless it joined the history."""
        unsent = [event for event, _ in self._unsent(session)]
        if unsent:
            self._settle(session, unsent)

    def settle(self, session: Session) -> None:
        """End an invocation: its events are settled, and values that it kept for itself go."""
        self.conversation.expect(None)
        self._settle(session, self._live_of(session))
        self.refresh(session)

    def reset(self) -> None:
        """Forget what is settled, and the stored state: the conversation has begun anew."""
        self._turns = SettledTurns(self.conversation, self._clock)
        self._state.clear()
        for session in self._live.values():
            self.refresh(session)

    async def rewound(self) -> None:
        """Take state and artifacts back with the conversation, and drop the live sessions.

        The next use of each session rebuilds it. As with `Runner.rewind_async`, the state is what
        the events before that point made of it; `app:` and `user:` values stay, and a value that
        was not there before becomes `None`.
        """
        # After another rewind there may be dropped sessions alone.
        key, before = next(iter((*self._live, *self._dropped)), None), self._turns.events
        self._turns.follow(keeps_state=False)
        left = set(map(id, self._turns.events))
        index = next((i for i, event in enumerate(before) if id(event) not in left), None)
        if key is None or index is None:
            return
        app_name, user_id, name = key
        old = Session.model_construct(
            id=name, app_name=app_name, user_id=user_id, events=before, state=self._state
        )
        actions = EventActions(
            state_delta=await compute_state_delta_for_rewind(old, index),
            artifact_delta=await compute_artifact_delta_for_rewind(
                old, index, artifact_service=self.artifacts, app_name=app_name
            ),
        )
        if actions.state_delta or actions.artifact_delta:
            self._state.update(actions.state_delta)
            ids = {"invocation_id": f"e-{self.next_id()}", "id": self.next_id()}
            now = self._clock.now_ms() / 1000
            self._turns.add({**ids, "author": "user", "timestamp": now, "actions": actions})
        for app, user, name in list(self._live):
            await self.delete_session(app_name=app, user_id=user, session_id=name)
            self._dropped.add((app, user, name))

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """The live session; a copy with some of its events when `config` filters."""
        key = app_name, user_id, session_id
        session = await self._rebuilt(key) if key in self._dropped else self._live.get(key)
        if session is not None:
            self._follow_history(session)
            if config is None:
                return session
            self.sessions[app_name][user_id][session_id].events[:] = session.events
        found = await super().get_session(
            app_name=app_name, user_id=user_id, session_id=session_id, config=config
        )
        if session is not None:
            self.sessions[app_name][user_id][session_id].events.clear()
        return found

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forget a session; does nothing when there is none."""
        self._live.pop((app_name, user_id, session_id), None)
        self._dropped.discard((app_name, user_id, session_id))
        await super().delete_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Take an event in, once: one of the current round that is delivered again is ignored.

        A model's answer goes to the history at once. A batch of tool responses closes its round:
        the events before it are settled. A partial event only passes through. An event appended
        to a copy of a session reaches the session too.
        """
        app, user, name = session.app_name, session.user_id, session.id
        live = self._live.get((app, user, name))
        if live is None or event.partial:
            return await super().append_event(session, event)
        if any(each == event for each in self._live_of(live) if each.id == event.id):
            return event
        note, expected = note_of(event), self.conversation.expected
        if expected is not None and event.content is not None:
            if not isinstance(note, Answer):
                # A plugin has put another event in the answer's place.
                note = expected.rewritten(wire_of(event.content).get("parts") or ())
            self.conversation.expect(None)
        if isinstance(note, Answer):
            self.conversation.answer(note.turn, note.model)
            self._answered = event.id
        elif isinstance(note, (ToolsDone, CallsOutcome)):
            self._settle(live, self._live_of(live))
        await super().append_event(live, event)
        # google-adk's list would grow, and each event be looked for in it.
        self.sessions[app][user][name].events.clear()
        if session is not live:
            session.events.append(event)
            session.state.update(event.actions.state_delta)
        return event

    def _settle(self, session: Session, over: list[Event]) -> None:
        """Settle some of the live events; the others stay live."""
        live, gone = self._live_of(session), set(map(id, over))
        kept = [event for event in live if id(event) not in gone]
        session.events[len(session.events) - len(live) :] = kept
        self._show(session, over)

    def _follow_history(self, session: Session) -> None:
        """Show what was settled outside of this session: by another one, or by a new history."""
        if self._turns.outdated:
            self._turns.follow()
        self._turns.show(self._events_of(session))

    def _show(self, session: Session, over: Sequence[Event] = ()) -> None:
        """Have the session's events begin with those of the turns that are settled now."""
        self._turns.follow(over, answered=self._answered)
        self._turns.show(self._events_of(session))

    def _unsent(self, session: Session) -> list[tuple[Event, types.Content]]:
        """The events of the turn that waits to be sent, with their contents."""
        live = self._live_of(session)
        said = [(each, each.content) for each in live if each.content is not None]
        return list(takewhile(lambda each: each[1].role == "user", reversed(said)))[::-1]

    def _live_of(self, session: Session) -> list[Event]:
        """The events that are not settled yet, oldest first; a copy."""
        return live_events(self._events_of(session))

    def _events_of(self, session: Session) -> SessionEvents:
        """The session's list.

        Where a plugin has put another list there, it is made anew of the live events in that list.
        """
        events = session.events
        if not isinstance(events, SessionEvents):
            settled = set(map(id, self._turns.events))
            events = SessionEvents(each for each in events if id(each) not in settled)
            session.events = events
        return events
