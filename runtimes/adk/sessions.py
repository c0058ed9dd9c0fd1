"""`GcliSessionService`: the sessions that the Runner and its plugins see.

`session.events` shows the conversation: the events of its settled turns, followed by those of the
current invocation. The settled ones stand for turns that the session's `Conversation` holds; they
are made when they are read (`session_events`). Code of ours that works on the current invocation
asks for `live`. State is kept as google-adk's `InMemorySessionService` keeps it: what was appended
is stored, and a session's own state is a working copy that each invocation gets anew.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
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
from runtimes.adk.notes import Answer, ToolsDone, note_of
from runtimes.adk.session_events import (
    SessionEvents,
    SettledEvent,
    SettledTurns,
    live_events,
    write_parts,
)
from services.children.calls import CallsOutcome
from services.clock import Clock
from services.model.sdk_contents import WireContent, wire_of
from services.output_masking import MaskedResponse
from services.wire import Part

__all__ = ["GcliSessionService"]

_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Kept:
    """What is kept of one session."""

    live: Session | None = None
    """What callers get; `None` after it was dropped, until it is asked for again."""
    archive: Conversation | None = None
    turns: SettledTurns | None = None
    """Shared, like `state`, by the sessions over one conversation."""
    state: dict[str, Any] = field(default_factory=dict)
    joined: tuple[list[types.Content], WireContent] | None = None
    """The turn that several events make, with their contents."""


class GcliSessionService(BaseSessionService):
    """Authoritative sessions. `get_session` hands out the live one, and a copy where it filters."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[_Key, _Kept] = {}
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
        kept = self._kept.setdefault((app_name, user_id, session_id), _Kept())
        if kept.live is not None:
            raise AlreadyExistsError(f"Session with id {session_id} already exists.")
        kept.live = session = Session(
            id=session_id, app_name=app_name, user_id=user_id, last_update_time=self._now()
        )
        session.events = SessionEvents()
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
        kept = self._kept[_key(session)]
        if kept.archive is None:
            raise KeyError(session.id)
        return kept.archive

    def attach(self, session: Session, conversation: Conversation) -> None:
        """Give a session its archive; its model turns go there from now on.

        Several sessions may share one: agents that take turns in one conversation each have a
        session of their own for what is still under way. They share what is settled, and state.
        """
        kept = self._kept[_key(session)]
        other = next(iter(self._over(conversation)), None)
        if other is None:
            kept.turns = SettledTurns(conversation)
        else:
            kept.turns, kept.state = other.turns, other.state
        kept.archive = conversation
        self._refresh(session)

    def pending(self, session: Session) -> types.Content | None:
        """The user-role turn that waits to be sent: all that came since the model's last answer."""
        contents = [event.content for event in _unsent(session) if event.content is not None]
        if not contents:
            return None
        kept, content = self._kept[_key(session)], contents[0]
        if len(contents) > 1:
            if kept.joined is None or kept.joined[0] != contents:
                parts = [part for each in contents for part in wire_of(each).get("parts") or ()]
                kept.joined = contents, WireContent.of({"role": "user", "parts": parts})
            content = kept.joined[1]
        raw = [] if kept.archive is None else kept.archive.view.raw
        if not raw or raw[-1] is not (content.wire if isinstance(content, WireContent) else None):
            # This turn is not in the history yet, so all that is in it is settled.
            self._show(session)
        return content

    def pending_parts(self, session: Session) -> list[Part]:
        """The parts of the turn that waits to be sent, as the API's JSON."""
        content = self.pending(session)
        return [] if content is None else wire_of(content).get("parts") or []

    def extend_pending(self, session: Session, parts: list[Part]) -> None:
        """Give the turn that waits to be sent other parts."""
        for event in _unsent(session):
            if event.content is not None:
                wire = {**wire_of(event.content), "parts": parts}
                event.content, parts = WireContent.of(wire, note_of(event)), []

    def discard_pending(self, session: Session) -> None:
        """Forget a user-role turn that will not be sent after all, unless it joined the history."""
        unsent = _unsent(session)
        if unsent:
            gone = set(map(id, unsent))
            rest = [event for event in live_events(session) if id(event) not in gone]
            self._settle(session, unsent, rest)

    def settle(self, session: Session) -> None:
        """End an invocation: its events are settled, and values that it kept for itself go."""
        kept = self._kept.get(_key(session))
        if kept is not None and kept.archive is not None:
            kept.archive.expect(None)
        self._settle(session, live_events(session))
        self._refresh(session)

    def write_back(self, session: Session, masked: Iterable[MaskedResponse]) -> None:
        """Put masked responses into the events that hold them, by the identity of their parts."""
        changed = {id(change.replaces): change.part for change in masked}
        turns = self._kept[_key(session)].turns
        if turns is not None:
            turns.put(changed)
        self._show(session)
        for event in live_events(session):
            write_parts(event, changed)

    def drop(self, conversation: Conversation) -> None:
        """Forget the live sessions over a conversation whose history becomes another one."""
        for kept in self._over(conversation):
            kept.live = None

    def reset(self, conversation: Conversation) -> None:
        """`drop`, for a conversation that begins anew: the session's state goes too."""
        turns, state = SettledTurns(conversation), dict[str, Any]()
        for kept in self._over(conversation):
            kept.live, kept.turns, kept.state = None, turns, state

    async def rewound(self, conversation: Conversation) -> None:
        """`drop`, for a conversation that was rewound: state and artifacts go back with it.

        As with `Runner.rewind_async`, they are what the events before that point made of them;
        `app:` and `user:` values stay, and a value that was not there before becomes `None`.
        """
        self.drop(conversation)
        key, kept = next(
            ((key, kept) for key, kept in self._kept.items() if kept.archive is conversation),
            (None, _Kept()),
        )
        turns = kept.turns
        if key is None or turns is None:
            return
        before = list(turns.events)
        turns.follow(now=self._now(), keeps_state=False)
        left = {id(event) for event in turns.events}
        index = next((i for i, event in enumerate(before) if id(event) not in left), None)
        if index is None:
            return
        session = Session(id=key[2], app_name=key[0], user_id=key[1])
        session.events, session.state = before, kept.state
        actions = EventActions(
            state_delta=await compute_state_delta_for_rewind(session, index),
            artifact_delta=await compute_artifact_delta_for_rewind(
                session, index, artifact_service=self.artifacts, app_name=key[0]
            ),
        )
        if actions.state_delta or actions.artifact_delta:
            kept.state.update(actions.state_delta)
            event = Event(invocation_id=f"e-{self.next_id()}", author="user", actions=actions)
            event.id, event.timestamp = self.next_id(), self._now()
            turns.add(SettledEvent.recording(event, None))

    def reopened(self, session: Session) -> Session:
        """The live session; made anew, over the archive as it is now, where it was dropped."""
        live = self._kept[_key(session)].live
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
        self._reopen()
        kept = self._kept.get((app_name, user_id, session_id))
        if kept is None or kept.live is None:
            return None
        session = kept.live
        if kept.turns is not None:
            # Another session over the same conversation may have settled turns meanwhile.
            kept.turns.show(_events_of(session))
        if config is None:
            return session
        events = list(session.events)
        if config.num_recent_events is not None:
            events = events[-config.num_recent_events :] if config.num_recent_events else []
        if config.after_timestamp is not None:
            since = config.after_timestamp
            events = [event for event in events if event.timestamp >= since]
        return session.model_copy(update={"events": events, "state": dict(session.state)})

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Sessions without their events and state, least recently used first."""
        self._reopen()
        found = [
            kept.live.model_copy(update={"events": [], "state": {}})
            for (app, user, _), kept in self._kept.items()
            if kept.live is not None and app == app_name and user_id in (None, user)
        ]
        found.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forget a session and its archive; does nothing when there is none."""
        self._kept.pop((app_name, user_id, session_id), None)

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
        kept = self._kept.get(_key(session)) or _Kept()
        live, archive, note = kept.live or session, kept.archive, note_of(event)
        if archive is not None and archive.expected is not None and event.content is not None:
            if not isinstance(note, Answer):
                # A plugin has put another event in the answer's place.
                note = archive.expected.rewritten(wire_of(event.content).get("parts") or ())
            archive.expect(None)
        if archive is not None and isinstance(note, Answer):
            archive.answer(note.turn, note.model)
        elif isinstance(note, (ToolsDone, CallsOutcome)):
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
        for (app_name, user_id, session_id), kept in self._kept.items():
            if kept.live is None:
                self.open(app_name=app_name, user_id=user_id, session_id=session_id)

    def _over(self, conversation: Conversation) -> list[_Kept]:
        return [kept for kept in self._kept.values() if kept.archive is conversation]

    def _settle(self, session: Session, over: list[Event], rest: Iterable[Event] = ()) -> None:
        """Settle the events in `over`; those in `rest` are what stays live."""
        del session.events[len(session.events) - len(live_events(session)) :]
        turns = self._kept[_key(session)].turns
        if turns is not None:
            turns.follow(over, now=self._now())
        self._show(session)
        session.events.extend(rest)

    def _show(self, session: Session) -> None:
        """Have the session's events begin with those of the turns that are settled now."""
        turns = self._kept[_key(session)].turns
        if turns is not None:
            turns.follow(now=self._now())
            turns.show(_events_of(session))

    def _refresh(self, session: Session) -> None:
        """Show what is settled, and give the session a fresh copy of its stored state."""
        self._show(session)
        user = self._user_state.get((session.app_name, session.user_id), {})
        session.state.clear()
        for values, prefix in (
            (self._kept[_key(session)].state, ""),
            (self._app_state.get(session.app_name, {}), State.APP_PREFIX),
            (user, State.USER_PREFIX),
        ):
            for name, value in values.items():
                session.state[prefix + name] = copy.deepcopy(value)

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
                self._kept[_key(session)].state[name] = value

    def _now(self) -> float:
        return self._clock.now_ms() / 1000


def _unsent(session: Session) -> list[Event]:
    """The events of the turn that waits to be sent; those without a content do not count."""
    found: list[Event] = []
    for event in reversed(live_events(session)):
        if event.content is not None:
            if event.content.role != "user":
                break
            found.insert(0, event)
    return found


def _events_of(session: Session) -> SessionEvents:
    """The session's list; made anew where a plugin has put another list there."""
    if not isinstance(session.events, SessionEvents):
        session.events = SessionEvents(session.events)
    events: SessionEvents = session.events
    return events


def _key(session: Session) -> _Key:
    return (session.app_name, session.user_id, session.id)
