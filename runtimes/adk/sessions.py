"""`GcliSessionService`: the sessions that the Runner and its plugins see.

`session.events` shows the conversation: the events of its settled turns, followed by those of the
current invocation. The settled ones stand for turns that the session's `Conversation` holds; they
are made when they are read (`session_events`). Code of ours that works on the current invocation
asks for `live`. State is kept as google-adk's `InMemorySessionService` keeps it: what
was appended is stored, and a session's own state is a working copy that each invocation gets anew.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import count
from typing import Any

from google.adk.artifacts.in_memory_artifact_service import InMemoryArtifactService
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions._rewind_utils import (
    compute_artifact_delta_for_rewind,
    compute_state_delta_for_rewind,
)
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from google.genai import types

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Answer, ChildToolsDone, ToolsDone, WireContent, note_of, wire_of
from runtimes.adk.session_events import SessionEvents, SettledEvent, live_events, write_parts
from runtimes.adk.settled_turns import SettledTurns
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
        self._turns: dict[_Key, SettledTurns] = {}
        """What the sessions over one conversation share, as they share the stored state."""
        self._state: dict[_Key, dict[str, Any]] = {}
        self._app_state: dict[str, dict[str, Any]] = {}
        self._user_state: dict[tuple[str, str], dict[str, Any]] = {}
        self._count = count(1)
        self.artifacts = InMemoryArtifactService()
        """What tools and plugins save as artifacts; gone with the process."""

    def next_id(self) -> str:
        """An id for an event or an invocation: the same in every run, and never given twice."""
        return f"adk-event-{next(self._count)}"

    def open(self, *, app_name: str, user_id: str, session_id: str) -> Session:
        """Make a session, over the conversation that it was attached to, if it was.

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
        session.events = SessionEvents()
        self._live[key] = session
        self._state.setdefault(key, {})
        self._refresh(session)
        return session

    def live(self, session: Session) -> list[Event]:
        """The events of the current invocation that are not settled yet, oldest first."""
        return live_events(session)

    def archive(self, session: Session) -> Conversation:
        """The settled part of a session.

        Raises:
            KeyError: nothing was attached to this session.
        """
        return self._archives[_key(session)]

    def attach(self, session: Session, conversation: Conversation) -> None:
        """Give a session its archive; its model turns go there from now on.

        Several sessions may share one: agents that take turns in one conversation each have a
        session of their own for what is still under way. They share what is settled, and state.
        """
        key = _key(session)
        other = next(iter(self._over(conversation)), None)
        if other is None:
            self._turns[key] = SettledTurns(conversation)
        elif other != key:
            self._turns[key], self._state[key] = self._turns[other], self._state[other]
        self._archives[key] = conversation
        self._refresh(session)

    def pending(self, session: Session) -> types.Content | None:
        """The user-role turn that waits to be sent; `None` when the last event is not one."""
        event = self._pending_event(session)
        if event is None or event.content is None:
            return None
        turns, content = self._turns.get(_key(session)), event.content
        wire = content.wire if isinstance(content, WireContent) else None
        if turns is not None and not turns.ends_with(wire):
            # This turn is not in the history yet, so all that is in it is settled.
            self._show(session)
        return content

    def pending_parts(self, session: Session) -> list[Part]:
        """The parts of the turn that waits to be sent, as the API's JSON."""
        content = self.pending(session)
        return [] if content is None else wire_of(content).get("parts") or []

    def extend_pending(self, session: Session, parts: list[Part]) -> None:
        """Give the turn that waits to be sent other parts."""
        event = self._pending_event(session)
        if event is not None and event.content is not None:
            wire = wire_of(event.content)
            event.content = WireContent.of({**wire, "parts": parts}, note_of(event))

    def discard_pending(self, session: Session) -> None:
        """Forget a user-role turn that will not be sent after all, unless it joined the history."""
        event = self._pending_event(session)
        if event is not None:
            rest = [other for other in live_events(session) if other is not event]
            self._settle(session, [event], rest)

    def settle(self, session: Session) -> None:
        """End an invocation: its events are settled, and values that it kept for itself go."""
        self._settle(session, live_events(session))
        self._refresh(session)

    def write_back(self, session: Session, masked: Iterable[MaskedResponse]) -> None:
        """Put masked responses into the events that hold them, by the identity of their parts."""
        changed = {id(change.replaces): change.part for change in masked}
        turns = self._turns.get(_key(session))
        if turns is not None:
            turns.put(changed)
            self._show(session)
        for event in live_events(session):
            write_parts(event, changed)

    def drop(self, conversation: Conversation) -> None:
        """Forget the live sessions over a conversation whose history becomes another one."""
        for key in self._over(conversation):
            self._live.pop(key, None)

    def reset(self, conversation: Conversation) -> None:
        """`drop`, for a conversation that begins anew: the session's state goes too."""
        self.drop(conversation)
        turns, state = SettledTurns(conversation), dict[str, Any]()
        for key in self._over(conversation):
            self._turns[key], self._state[key] = turns, state

    async def rewound(self, conversation: Conversation) -> None:
        """`drop`, for a conversation that was rewound: state and artifacts go back with it.

        As with `Runner.rewind_async`, they are what the events before that point made of them;
        `app:` and `user:` values stay.
        """
        self.drop(conversation)
        keys = self._over(conversation)
        if not keys:
            return
        key, turns = keys[0], self._turns[keys[0]]
        before = list(turns.events)
        turns.follow(now=self._now(), keeps_state=False)
        left = {id(event) for event in turns.events}
        index = next((i for i, event in enumerate(before) if id(event) not in left), None)
        if index is None:
            return
        session = Session(id=key[2], app_name=key[0], user_id=key[1])
        session.events, session.state = before, self._state[key]
        actions = EventActions(
            state_delta=await compute_state_delta_for_rewind(session, index),
            artifact_delta=await compute_artifact_delta_for_rewind(
                session, index, artifact_service=self.artifacts, app_name=key[0]
            ),
        )
        if actions.state_delta or actions.artifact_delta:
            self._state[key].update(actions.state_delta)
            event = Event(invocation_id=f"e-{self.next_id()}", author="user", actions=actions)
            event.id, event.timestamp = self.next_id(), self._now()
            turns.add(SettledEvent.recording(event, None))

    def reopened(self, session: Session) -> Session:
        """The live session; made anew, over the archive as it is now, where it was dropped."""
        live = self._live.get(_key(session))
        if live is None:
            return self.open(
                app_name=session.app_name, user_id=session.user_id, session_id=session.id
            )
        self._refresh(live)
        return live

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
        self._store(session, state or {})
        self._refresh(session)
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
        key = (app_name, user_id, session_id)
        self._reopen()
        session = self._live.get(key)
        if session is not None and key in self._turns:
            # Another session over the same conversation may have settled turns meanwhile.
            self._turns[key].show(_events_of(session))
        if session is None or config is None:
            return session
        events = list(session.events)
        if config.num_recent_events is not None:
            events = events[-config.num_recent_events :] if config.num_recent_events else []
        if config.after_timestamp is not None:
            since, late = config.after_timestamp, len(events)
            while late and events[late - 1].timestamp >= since:
                late -= 1
            events = events[late:]
        return session.model_copy(update={"events": events, "state": dict(session.state)})

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Sessions without their events and state, least recently used first."""
        self._reopen()
        found = [
            session.model_copy(update={"events": [], "state": {}})
            for (app, user, _), session in self._live.items()
            if app == app_name and user_id in (None, user)
        ]
        found.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forget a session and its archive; does nothing when there is none."""
        key = (app_name, user_id, session_id)
        for kept in (self._live, self._archives, self._turns, self._state):
            kept.pop(key, None)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """What was stored under `user:`, without that prefix."""
        return copy.deepcopy(self._user_state.get((app_name, user_id), {}))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Take an event in, once.

        A model's answer goes to the archive at once. A batch of tool responses closes its round:
        the events before it are settled. A partial event only passes through. An event appended
        to a copy of a session reaches the session too.
        """
        if event.partial:
            return event
        live = self._live.get(_key(session), session)
        note, archive = note_of(event), self._archives.get(_key(live))
        expected = None if archive is None else archive.expected
        if archive is not None and expected is not None and event.content is not None:
            archive.expected = None
            # A plugin may have put another event in the answer's place.
            note = (
                note
                if isinstance(note, Answer)
                else expected.rewritten(wire_of(event.content).get("parts") or ())
            )
        if archive is not None and isinstance(note, Answer):
            archive.answer(note.turn, note.model)
        elif isinstance(note, (ToolsDone, ChildToolsDone)):
            self._settle(live, live_events(live))
        event = await super().append_event(live, event)
        live.last_update_time = event.timestamp
        self._store(live, event.actions.state_delta)
        if session is not live:
            session.events.append(event)
            session.state.update(event.actions.state_delta)
        return event

    def _reopen(self) -> None:
        """Make those sessions anew that were dropped."""
        for app_name, user_id, session_id in sorted(self._archives.keys() - self._live.keys()):
            self.open(app_name=app_name, user_id=user_id, session_id=session_id)

    def _over(self, conversation: Conversation) -> list[_Key]:
        return [key for key, archive in self._archives.items() if archive is conversation]

    def _pending_event(self, session: Session) -> Event | None:
        """The event of the turn that waits to be sent; events without a content do not count."""
        said = (event for event in reversed(live_events(session)) if event.content is not None)
        last = next(said, None)
        of_user = last is not None and last.content is not None and last.content.role == "user"
        return last if of_user else None

    def _settle(self, session: Session, over: list[Event], rest: Iterable[Event] = ()) -> None:
        """Settle the events in `over`; those in `rest` are what stays live."""
        del session.events[len(session.events) - len(live_events(session)) :]
        turns = self._turns.get(_key(session))
        if turns is not None:
            turns.follow(over, now=self._now())
        self._show(session)
        session.events.extend(rest)

    def _show(self, session: Session) -> None:
        """Have the session's events begin with those of the turns that are settled now."""
        turns = self._turns.get(_key(session))
        if turns is not None:
            turns.follow(now=self._now())
            turns.show(_events_of(session))

    def _refresh(self, session: Session) -> None:
        """Show what is settled, and give the session a fresh copy of its stored state."""
        self._show(session)
        app, user = self._app_state.get(session.app_name, {}), self._user_of(session)
        scoped = (
            (self._state[_key(session)], ""),
            (app, State.APP_PREFIX),
            (user, State.USER_PREFIX),
        )
        session.state.clear()
        for values, prefix in scoped:
            for name, value in values.items():
                session.state[prefix + name] = copy.deepcopy(value)

    def _user_of(self, session: Session) -> dict[str, Any]:
        return self._user_state.get((session.app_name, session.user_id), {})

    def _store(self, session: Session, delta: dict[str, Any]) -> None:
        """Store changes of state under their scopes."""
        for name, value in delta.items():
            if name.startswith(State.APP_PREFIX):
                stored = self._app_state.setdefault(session.app_name, {})
                stored[name.removeprefix(State.APP_PREFIX)] = value
            elif name.startswith(State.USER_PREFIX):
                stored = self._user_state.setdefault((session.app_name, session.user_id), {})
                stored[name.removeprefix(State.USER_PREFIX)] = value
            elif not name.startswith(State.TEMP_PREFIX):
                self._state.setdefault(_key(session), {})[name] = value

    def _now(self) -> float:
        return self._clock.now_ms() / 1000


def _events_of(session: Session) -> SessionEvents:
    """The session's list; made anew where a plugin has put another list there."""
    if not isinstance(session.events, SessionEvents):
        session.events = SessionEvents(session.events)
    events: SessionEvents = session.events
    return events


def _key(session: Session) -> _Key:
    return (session.app_name, session.user_id, session.id)
