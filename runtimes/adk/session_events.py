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
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.sessions.session import Session
from pydantic import ConfigDict

from runtimes.adk.notes import WireContent, note_of, wire_of
from services.chat import ChatHistory
from services.clock import Clock
from services.history.prefix import kept_prefix, shared_prefix
from services.history.transforms import has_function_response
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.recording.records import HistoryTurn
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


class SessionEvents(list[Event]):
    """A session's events: those of settled turns, then those of the current invocation."""

    __slots__ = ("settled", "version")

    def __init__(self, live: Iterable[Event] = ()) -> None:
        super().__init__(live)
        self.settled = 0
        """How many of the first belong to settled turns."""
        self.version: object = None
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
    content = event.content
    wire = {} if content is None else wire_of(content)
    old: list[Part] = wire.get("parts") or []
    if content is None or not any(id(part) in changed for part in old):
        return
    event.content = WireContent.of(_with(wire, changed), note_of(event))
    shown, made = content.parts or [], event.content.parts or []
    if len(shown) == len(old):
        parts = zip(old, shown, made, strict=True)
        event.content.parts = [
            typed if changed.get(id(part), part) == part else new for part, typed, new in parts
        ]


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


class SettledTurns:
    """The records of one conversation.

    The turn with the environment's context has none: it is part of a request, not of what was said.
    """

    def __init__(self, history: ChatHistory, clock: Clock) -> None:
        """`clock` gives the time of events that are made of a turn alone."""
        self._history = history
        self._clock = clock
        self._raw: Sequence[Content] = ()
        self._contents: list[Content] = []
        self._ids: list[str] = []
        self._records: list[list[SettledEvent]] = [[]]
        """What stands before all turns, then each turn's: its own event, then what followed it and
        is in no turn."""
        self.events: list[Event] = []
        """The event of every record, oldest first."""
        self.version = object()
        """Another object when `events` changes other than by growing at its end."""

    @property
    def outdated(self) -> bool:
        """Whether the history was replaced since the records followed it."""
        return self._history.view.raw is not self._raw

    def follow(self, live: Sequence[Event] = (), *, keeps_state: bool = True) -> None:
        """Bring the records up to date with the history.

        Args:
            live: The events that the newest turns were, oldest first; they are settled now.
            keeps_state: What events of turns that are gone did to state stays on record.
        """
        raw, ids, replaced = self._history.view.raw, self._history.turn_ids, self.outdated
        kept = (shared_prefix if replaced else kept_prefix)(self._contents, raw)
        turns = list(zip(ids[kept:], raw[kept:], strict=True))
        old_ids, old = self._ids[kept:], self._records[kept + 1 :]
        del self._ids[kept:], self._contents[kept:], self._records[kept + 1 :]
        if replaced:
            self._raw, self._ids = raw, list(ids[:kept])
        shown, now_at, settled = len(self._records[kept]), dict[int, int](), dict[int, int]()
        at = kept
        if replaced and old:
            for turn, found in zip(turns, _origins(old_ids, old, turns), strict=True):
                now_at.update(dict.fromkeys(found, len(self._records)))
                self._append(turn, [record for index in found for record in old[index]])
            at = len(self._records) - 1
        else:
            settled = self._settle(turns, live)
        if keeps_state:
            self._keep_changes(old, now_at, kept)
        self._keep_others(live, settled, at)
        new = [self._records[kept][shown:], *self._records[kept + 1 :]]
        if old:
            new, self.events, self.version = self._records, [], object()
        self.events += [record.event for records in new for record in records]

    def show(self, events: SessionEvents) -> None:
        """Put these events before the live ones of a session."""
        known = events.settled if events.version is self.version else 0
        events[known : events.settled] = self.events[known:]
        events.settled, events.version = len(self.events), self.version

    def put(self, changed: Mapping[int, Part]) -> None:
        """Replace parts: `changed` has the new ones under the identity (`id`) of the old ones."""
        for records in self._records:
            for record in records:
                record.put(changed)

    def add(self, fields: dict[str, Any]) -> None:
        """Put an event without a turn, and without content, at the end."""
        record = SettledEvent(fields, None)
        self._records[-1].append(record)
        self.events.append(record.event)

    def _settle(self, turns: Sequence[HistoryTurn], live: Sequence[Event]) -> dict[int, int]:
        """Put new turns at the end; return where the live events now are that they were.

        The first turn of the user was the first event of the user, the last turn the model's
        answer. The history has turns beside those two: a placeholder for an answer that was broken
        off before the user's turn, binary data behind it.
        """
        said = [(event.content.role, event) for event in live if event.content is not None]
        settled: dict[int, int] = {}
        for index, turn in enumerate(turns, 1):
            role, event = turn[1].get("role"), None
            if role == "user" and not settled:
                event = next((event for by, event in said if by == role), None)
            elif role != "user" and index == len(turns):
                event = next((event for by, event in reversed(said) if by == role), None)
            if event is None:
                self._append(turn, [], live[0].invocation_id if live else None)
            else:
                settled[id(event)] = len(self._records)
                self._append(turn, [SettledEvent.recording(event, turn[1])])
        return settled

    def _append(
        self, turn: HistoryTurn, records: list[SettledEvent], invocation: str | None = None
    ) -> None:
        self._records.append(records or self._fresh(turn, invocation))
        self._ids.append(turn[0])
        self._contents.append(turn[1])

    def _fresh(self, turn: HistoryTurn, invocation: str | None) -> list[SettledEvent]:
        """The event of a turn that was none; what a user says begins an invocation by itself."""
        turn_id, content = turn
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
            "timestamp": self._clock.now_ms() / 1000,
        }
        return [SettledEvent(fields, content)]

    def _keep_changes(
        self, old: Sequence[Sequence[SettledEvent]], now_at: Mapping[int, int], at: int
    ) -> None:
        """Keep what events did to state whose turns are gone, behind the turn before them.

        Args:
            old: The records of the turns that were in the place of the new ones.
            now_at: For those of these turns that are not gone, where their records are now.
            at: Where the records are of the turn before all these.
        """
        for index, records in enumerate(old):
            at = now_at.get(index, at)
            if index not in now_at:
                changes = [record.fields for record in records if record.changes_state]
                self._records[at] += [SettledEvent(fields, None) for fields in changes]

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
                self._records[at].append(record)


def _origins(
    ids: Sequence[str], records: Sequence[Sequence[SettledEvent]], turns: Sequence[HistoryTurn]
) -> Iterator[Sequence[int]]:
    """Which old turns each new turn was: the one with its id, or those that its parts were in.

    The records of those turns get the new turn's parts, where these are other objects.

    Args:
        ids: The old turns' ids.
        records: The old turns' records.
        turns: The new turns.
    """
    parts_of = [[part for record in each for part in record.parts] for each in records]
    held = {
        key: (index, part)
        for index, parts in enumerate(parts_of)
        for part in parts
        for key in _keys(part)
    }
    new = {turn_id for turn_id, _ in turns}
    named = {turn_id: index for index, turn_id in enumerate(ids) if turn_id in new}
    taken = set(named.values())
    for turn_id, content in turns:
        parts: list[Part] = content.get("parts") or []
        if turn_id in named:
            found = [named.pop(turn_id)]
            # A turn may begin with parts that no event has: the environment's context.
            start = len(parts) - len(parts_of[found[0]])
            pairs = list(zip(parts_of[found[0]], parts[start:], strict=True)) if start >= 0 else []
        else:
            places = [
                next((held[key] for key in _keys(part) if key in held), None) for part in parts
            ]
            free = [
                (*place, part)
                for place, part in zip(places, parts, strict=True)
                if place is not None and place[0] not in taken
            ]
            found = list(dict.fromkeys(index for index, _, _ in free))
            pairs = [(old, part) for _, old, part in free]
            taken.update(found)
        changed = {id(old): part for old, part in pairs if old is not part}
        for index in found:
            for record in records[index]:
                record.put(changed)
        yield found


def _keys(part: Part) -> Iterator[object]:
    """What a part is found by: itself; its call's id, where it was cut short or got a signature."""
    yield id(part)
    for kind in ("functionResponse", "functionCall"):
        call = part.get(kind)
        if isinstance(call, dict) and isinstance(call.get("id"), str):
            yield kind, call["id"]


def _of_others(event: Event) -> bool:
    """Whether a plugin or a callback said this: what comes from the runtime carries its JSON."""
    content = event.content
    plain = content is not None and bool(content.parts) and not isinstance(content, WireContent)
    return plain and event.author != "user"
