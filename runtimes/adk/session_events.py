"""`session.events`: events of settled turns, made when they are read, before the live ones.

`SettledTurns` keeps the events of a conversation's settled turns in step with its history. The
history grows at its end, goes back after an abort or a failure, and is replaced by masking,
compression, resume and rewind. A turn that takes the place of others keeps their events: masking
and compression leave the parts of what they keep the same objects, a resume and a rewind leave the
turns' ids. A turn from elsewhere (a recording, a summary) gets an event with ids made of its own.

What is kept is a small record per event. `session.events` holds an `UnreadEvent` for it, which
becomes an ordinary `Event` when any of its attributes is read. So the list is a plain list for its
readers (iteration, slices, copies, pydantic), and a conversation that is never read makes no event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from google.adk.events.event import Event
from google.adk.sessions.session import Session
from pydantic import ConfigDict

from runtimes.adk.notes import note_of
from services.history.prefix import shared_prefix
from services.history.transforms import has_function_response
from services.history.view import RequestView
from services.model.sdk_contents import WireContent, wire_of
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.wire import Content, Part

__all__ = [
    "AGENT_NAME",
    "SessionEvents",
    "SettledEvent",
    "SettledTurns",
    "UnreadEvent",
    "live_events",
    "write_parts",
]

AGENT_NAME: Final = "gemini_cli_agent"
"""The agent's name, and so the author of its events."""

_RECORD: Final = "settled record"
_KEPT: Final = (
    *("id", "invocation_id", "author", "timestamp", "branch", "custom_metadata"),
    *("usage_metadata", "model_version", "finish_reason"),
)
"""The fields of an event that its record keeps beside content and actions."""
_SLOTS: Final = (
    *("__dict__", "__pydantic_fields_set__"),
    *("__pydantic_extra__", "__pydantic_private__"),
)

_Call = tuple[str, str]


class SessionEvents(list[Event]):
    """A session's events: those of settled turns, then those of the current invocation."""

    __slots__ = ("settled", "version")

    def __init__(self, live: Iterable[Event] = ()) -> None:
        super().__init__(live)
        self.settled = 0
        """How many of the first belong to settled turns."""
        self.version = -1
        """Which version of the settled events these are; see `SettledTurns.version`."""


def live_events(session: Session) -> list[Event]:
    """The events of the current invocation that are not settled yet, oldest first; a copy."""
    events = session.events
    return events[events.settled :] if isinstance(events, SessionEvents) else list(events)


def write_parts(event: Event, changed: Mapping[int, Part]) -> None:
    """Replace parts of an event that carries its JSON; all other parts stay the same objects.

    Args:
        event: The event.
        changed: The new parts under the identity (`id`) of the old ones in its JSON.
    """
    wire = {} if event.content is None else wire_of(event.content)
    old: list[Part] = wire.get("parts") or []
    if not any(id(part) in changed for part in old):
        return
    was = (event.content.parts if event.content else None) or []
    content = WireContent.of(_with(wire, changed), note_of(event))
    if len(was) == len(old):
        parts = zip(old, was, content.parts or (), strict=True)
        content.parts = [new if id(part) in changed else typed for part, typed, new in parts]
    event.content = content


def _with(wire: Content, changed: Mapping[int, Part]) -> Content:
    return {**wire, "parts": [changed.get(id(part), part) for part in wire["parts"]]}


class SettledEvent:
    """The record of one event of a settled turn."""

    __slots__ = ("content", "event", "fields")

    def __init__(self, fields: dict[str, Any], content: Content | None) -> None:
        self.fields = fields
        self.content = content
        self.event: Event = UnreadEvent.of(self)

    @classmethod
    def recording(cls, event: Event, content: Content | None) -> SettledEvent:
        """The record of `event`; `content` is its content as the history holds it."""
        own = event.__dict__
        fields = {name: own[name] for name in _KEPT if own[name] is not None}
        if any(event.actions.__dict__.values()):
            fields["actions"] = event.actions
        return cls(fields, content)

    @property
    def parts(self) -> list[Part]:
        """The content's parts."""
        return [] if self.content is None else self.content.get("parts") or []

    @property
    def changes_state(self) -> bool:
        """Whether the event's actions changed state or artifacts."""
        actions = self.fields.get("actions")
        return actions is not None and bool(actions.state_delta or actions.artifact_delta)

    def made(self) -> Event:
        """The event, from its record."""
        content = None if self.content is None else WireContent.of(self.content)
        return Event(**self.fields, content=content)

    def rebind(self, content: Content) -> None:
        """Let `content`, which the history now holds for this event, take the old one's place."""
        if type(self.event) is Event and content != self.content:
            self.event.content = WireContent.of(content)
        self.content = content

    def put(self, changed: Mapping[int, Part]) -> None:
        """Replace parts: `changed` has the new ones under the identity (`id`) of the old ones."""
        if self.content is not None and any(id(part) in changed for part in self.parts):
            if type(self.event) is Event:
                write_parts(self.event, changed)
            self.content = _with(self.content, changed)


class UnreadEvent(Event):
    """An event of a settled turn that has not been read.

    The first look at any attribute fills it from its record and turns it into an `Event`.
    """

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def of(cls, record: SettledEvent) -> UnreadEvent:
        """The unread event of `record`."""
        unread = cls.__new__(cls)
        object.__setattr__(unread, "__dict__", {_RECORD: record})
        return unread

    def __getattribute__(self, name: str) -> Any:
        # A copy of an event that has been filled meanwhile has no record: it is complete.
        record = object.__getattribute__(self, "__dict__").get(_RECORD)
        if record is not None:
            made = record.made()
            for slot in _SLOTS:
                object.__setattr__(self, slot, getattr(made, slot))
        object.__setattr__(self, "__class__", Event)
        return getattr(self, name)


class History(Protocol):
    """What is read of a conversation here."""

    view: RequestView

    @property
    def turn_ids(self) -> Sequence[str]:
        """The durable ids of the turns in `view.raw`."""
        ...


class SettledTurns:
    """The records of one conversation.

    The turn with the environment's context has none: it is part of a request, not of what was said.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._raw: Sequence[Content] = ()
        self._contents: list[Content] = []
        self._ids: list[str] = []
        self._records: list[list[SettledEvent]] = []
        """By turn; a turn's own event first, then what followed it and is in no turn."""
        self._left: list[SettledEvent] = []
        """What events without a turn did to state, before all others."""
        self.events: list[Event] = []
        """The event of every record, oldest first."""
        self.version = 0
        """Moves when `events` changes other than by growing at its end."""

    def follow(
        self, live: Sequence[Event] = (), *, now: float = 0.0, keeps_state: bool = True
    ) -> None:
        """Bring the records up to date with the history.

        Args:
            live: The events that the newest turns were, oldest first; they are settled now.
            now: The time for events that are made of a turn alone, in seconds.
            keeps_state: What events of turns that are gone did to state stays on record.
        """
        raw, ids, known = self._history.view.raw, self._history.turn_ids, self._contents
        if raw is not self._raw:
            self._replace(raw, ids, now, keeps_state)
        elif not live and len(raw) == len(known) and (not raw or raw[-1] is known[-1]):
            return  # A turn never comes back once it was taken away.
        self._shorten(raw)
        self._grow(raw, ids, live, now)

    def show(self, events: SessionEvents) -> None:
        """Put these events before the live ones of a session."""
        if events.version != self.version or events.settled != len(self.events):
            known = events.settled if events.version == self.version else 0
            events[known : events.settled] = self.events[known:]
            events.settled, events.version = len(self.events), self.version

    def put(self, changed: Mapping[int, Part]) -> None:
        """Replace parts: `changed` has the new ones under the identity (`id`) of the old ones."""
        for records in self._records:
            for record in records:
                record.put(changed)

    def add(self, record: SettledEvent) -> None:
        """Put an event without a turn at the end."""
        self._behind(len(self._records) - 1).append(record)
        self.events.append(record.event)

    def _replace(
        self, raw: Sequence[Content], ids: Sequence[str], now: float, keeps_state: bool
    ) -> None:
        """Take another history: its turns keep the records of the turns that they were."""
        kept = shared_prefix(self._contents, raw)
        self._raw = raw
        origins = _Origins(self._ids[kept:], self._records[kept:], ids[kept:])
        replaces = kept < len(self._contents)
        self._contents, self._ids = self._contents[:kept], list(ids[:kept])
        del self._records[kept:]
        if replaces:
            for turn_id, content in zip(ids[kept:], raw[kept:], strict=True):
                records = origins.of(turn_id, content, len(self._records))
                self._append(turn_id, content, records or self._fresh(turn_id, content, now))
            self._drop(origins.unused(kept - 1) if keeps_state else ())

    def _shorten(self, raw: Sequence[Content]) -> None:
        """Forget the turns that were taken back, not what came of them."""
        known = min(len(self._contents), len(raw))
        while known and self._contents[known - 1] is not raw[known - 1]:
            known -= 1
        if known < len(self._contents):
            gone = [record for records in self._records[known:] for record in records]
            del self._contents[known:], self._ids[known:], self._records[known:]
            self._drop((known - 1, record) for record in gone)

    def _drop(self, gone: Iterable[tuple[int, SettledEvent]]) -> None:
        """Keep what events did to state whose turns are gone, behind the turn at the index."""
        for at, record in gone:
            if record.changes_state:
                self._behind(at).append(SettledEvent(record.fields, None))
        self._flatten()

    def _behind(self, index: int) -> list[SettledEvent]:
        return self._records[index] if index >= 0 else self._left

    def _grow(
        self, raw: Sequence[Content], ids: Sequence[str], live: Sequence[Event], now: float
    ) -> None:
        """Settle the turns that are new, and the events that they were."""
        start, invocation = len(self._records), live[0].invocation_id if live else None
        settled: dict[int, int] = {}
        for index in range(start, len(raw)):
            turn_id, content = ids[index], raw[index]
            event = _event_of(content, live, settled, last=index == len(raw) - 1)
            if event is None:
                records = self._fresh(turn_id, content, now, invocation)
            else:
                settled[id(event)] = index
                records = [SettledEvent.recording(event, content)]
            self._append(turn_id, content, records)
            self.events += [record.event for record in records]
        if len(settled) < len(live):
            self._keep_others(live, settled, start - 1)

    def _keep_others(self, live: Sequence[Event], settled: Mapping[int, int], at: int) -> None:
        """Keep what is in no turn: what others than the runtime said or changed.

        What they said to a user's message takes the place of an answer, so the message stays too.
        """
        others = {id(event) for event in live if _of_others(event)}
        stays = bool(others) and not settled
        for event in live:
            at = settled.get(id(event), at)
            if id(event) in settled:
                continue
            said = id(event) in others or (stays and event.author == "user")
            shown = wire_of(event.content) if said and event.content is not None else None
            record = SettledEvent.recording(event, shown)
            if shown is not None or record.changes_state:
                self._behind(at).append(record)
                self._flatten()

    def _append(self, turn_id: str, content: Content, records: list[SettledEvent]) -> None:
        self._contents.append(content)
        self._ids.append(turn_id)
        self._records.append(records)

    def _fresh(
        self, turn_id: str, content: Content, now: float, invocation: str | None = None
    ) -> list[SettledEvent]:
        """The event of a turn that was none; what a user says begins an invocation by itself."""
        if turn_id == ENVIRONMENT_CONTEXT_ID:
            return []
        of_user = content.get("role") == "user" and not has_function_response(content)
        if invocation is None and not of_user:
            before = next((records[-1] for records in reversed(self._records) if records), None)
            invocation = None if before is None else before.fields["invocation_id"]
        fields = {
            "id": turn_id,
            "invocation_id": invocation or f"e-{turn_id}",
            "author": "user" if of_user else AGENT_NAME,
            "timestamp": now,
        }
        return [SettledEvent(fields, content)]

    def _flatten(self) -> None:
        records = [*self._left, *(record for records in self._records for record in records)]
        self.events = [record.event for record in records]
        self.version += 1


class _Origins:
    """Finds which turns of the old history a turn of the new one was."""

    def __init__(
        self, ids: Sequence[str], records: Sequence[list[SettledEvent]], new: Iterable[str]
    ) -> None:
        self._records = records
        ours = set(new)
        self._by_id = {turn_id: index for index, turn_id in enumerate(ids) if turn_id in ours}
        self._used = set(self._by_id.values())
        self._now_at: dict[int, int] = {}
        self._by_part: dict[int, int] = {}
        self._by_call: dict[_Call, tuple[int, Part]] = {}
        for index, settled in enumerate(records):
            for part in (part for record in settled for part in record.parts):
                self._by_part[id(part)] = index
                call = _call_of(part)
                if call is not None:
                    self._by_call[call] = index, part

    def of(self, turn_id: str, content: Content, position: int) -> list[SettledEvent]:
        """The records for a turn: of the one with its id, or of those that its parts were in."""
        index = self._by_id.pop(turn_id, None)
        if index is not None:
            self._now_at[index] = position
            _rebind(self._records[index], content)
            return self._records[index]
        found: list[SettledEvent] = []
        for part in content.get("parts") or ():
            index = self._origin(part)
            if index is not None and index not in self._used:
                self._used.add(index)
                self._now_at[index] = position
                found += self._records[index]
        return found

    def unused(self, position: int) -> Iterator[tuple[int, SettledEvent]]:
        """The records of turns that no new turn was, each with the position that it is behind now.

        `position` is where the last turn before all these stands.
        """
        for index, records in enumerate(self._records):
            position = self._now_at.get(index, position)
            if index not in self._now_at:
                yield from ((position, record) for record in records)

    def _origin(self, part: Part) -> int | None:
        index, call = self._by_part.get(id(part)), _call_of(part)
        if index is not None or call is None or call not in self._by_call:
            return index
        # A response that was cut short, or a call that has got a signature.
        index, old = self._by_call[call]
        if index not in self._used:
            for record in self._records[index]:
                record.put({id(old): part})
        return index


def _rebind(records: Sequence[SettledEvent], content: Content) -> None:
    """Let records hold the parts of `content`: the last ones, where it has some of no event."""
    parts: list[Part] = content.get("parts") or []
    held = [record for record in records if record.content is not None]
    start = len(parts) - sum(len(record.parts) for record in held)
    for record in held if start >= 0 else ():
        end = start + len(record.parts)
        record.rebind({**content, "parts": parts[start:end]})
        start = end


def _call_of(part: Part) -> _Call | None:
    for kind in ("functionResponse", "functionCall"):
        call = part.get(kind)
        if isinstance(call, dict) and isinstance(call.get("id"), str):
            return kind, call["id"]
    return None


def _event_of(
    content: Content, live: Sequence[Event], settled: Mapping[int, int], *, last: bool
) -> Event | None:
    """Which live event a new turn is: the first with the user's role, or at the end the answer.

    The history has turns beside those two: a placeholder for an answer that was broken off before
    the user's turn, binary data behind it.
    """
    role = content.get("role")
    said = [event for event in live if event.content is not None and event.content.role == role]
    if not said or (role != "user" and not last):
        return None
    found = said[0] if role == "user" else said[-1]
    return None if id(found) in settled else found


def _of_others(event: Event) -> bool:
    """Whether a plugin or a callback said this: what comes from the runtime carries its JSON."""
    content = event.content
    plain = content is not None and bool(content.parts) and not isinstance(content, WireContent)
    return plain and event.author != "user"
