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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from google.adk.events.event import Event, NodeInfo
from google.adk.events.event_actions import EventActions
from pydantic import BaseModel

from services.chat import ChatHistory, successors, with_parts
from services.clock import Clock
from services.history.prefix import shared_prefix, shared_stack
from services.history.transforms import has_function_response
from services.model.sdk_contents import WireContent, wire_of
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
]

AGENT_NAME: Final = "gemini_cli_agent"
"""The agent's name, and so the author of its events."""

_RECORD: Final = "settled record"
_EMPTY: Final = (None, NodeInfo(), EventActions())
"""What a field of an event is where nothing was set."""


class SessionEvents(list[Event]):
    """A session's events: those of settled turns, then those of the current invocation."""

    __slots__ = ("settled", "version")

    def __init__(self, live: Iterable[Event] = ()) -> None:
        super().__init__(live)
        self.settled = 0
        """How many of the first belong to settled turns."""
        self.version: object = None
        """Which version of the settled events these are; see `SettledTurns.version`."""


def live_events(events: list[Event]) -> list[Event]:
    """Those of a session's events that are not settled yet, oldest first; a copy."""
    return events[events.settled :] if isinstance(events, SessionEvents) else [*events]


@dataclass(eq=False, slots=True)
class SettledEvent:
    """The record of one event of a settled turn."""

    fields: dict[str, Any]
    content: Content | None = None
    event: Event = field(init=False)

    def __post_init__(self) -> None:
        self.event = UnreadEvent(self)

    @classmethod
    def recording(cls, event: Event, content: Content | None) -> SettledEvent:
        """The record of `event`; `content` is its content as the history holds it."""
        fields = {
            name: value
            for name, value in event.__dict__.items()
            if name != "content" and value not in _EMPTY
        }
        return cls(fields, content)

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
        content = None if self.content is None else with_parts(self.content, changed)
        if content is not None and content is not self.content:
            self.say(content)

    def say(self, content: Content) -> None:
        """Replace the content."""
        self.content = content
        if type(self.event) is Event:
            self.event.content = WireContent.of(content)


class UnreadEvent(Event):
    """An event of a settled turn that has not been read.

    The first look at any attribute fills it from its record and turns it into an `Event`.
    """

    def __init__(self, record: SettledEvent) -> None:
        object.__setattr__(self, "__dict__", {_RECORD: record})

    def __getattribute__(self, name: str) -> Any:
        # A copy of an event that has been filled meanwhile has no record: it is complete.
        record = object.__getattribute__(self, "__dict__").get(_RECORD)
        if record is not None:
            made = record.made()
            for slot in BaseModel.__slots__:
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

    def with_context(self, said: list[Content]) -> list[Content]:
        """Put the environment's context before what the events say.

        No event says it. It is a turn of its own, or after a masking the first parts of the first
        turn.
        """
        if not self._contents:
            return said
        first, records = self._contents[0], self._records[1]
        own = sum(len((record.content or {}).get("parts") or ()) for record in records)
        parts = first.get("parts") or []
        context = parts[: len(parts) - own]
        if not own:
            return [first, *said]
        return [{**said[0], "parts": [*context, *(said[0].get("parts") or ())]}, *said[1:]]

    @property
    def outdated(self) -> bool:
        """Whether the history was replaced since the records followed it."""
        return self._history.view.raw is not self._raw

    def follow(
        self,
        live: Sequence[Event] = (),
        *,
        answered: str | None = None,
        keeps_state: bool = True,
    ) -> None:
        """Bring the records up to date with the history.

        Args:
            live: The events that the newest turns were, oldest first; they are settled now.
            answered: The id of the event that brought the newest answer.
            keeps_state: What events of turns that are gone did to state stays on record.
        """
        raw, ids, replaced = self._history.view.raw, self._history.turn_ids, self.outdated
        kept = (shared_prefix if replaced else shared_stack)(self._contents, raw)
        turns = list(zip(ids[kept:], raw[kept:], strict=True))
        gone = list(zip(self._ids[kept:], self._contents[kept:], strict=True))
        first, old = 0 if replaced else kept, self._records[kept + 1 :]
        self._raw, self._ids[first:], self._contents[kept:] = raw, ids[first:], raw[kept:]
        before, lists = self._records[kept], [list[SettledEvent]() for _ in turns]
        shown, self._records[kept + 1 :] = len(before), lists
        became, changed = successors(gone, turns) if replaced else ({}, {})
        for record in chain.from_iterable(old):
            record.put(changed)
        at = before
        for index, records in enumerate(old):
            if index in became:
                at = lists[became[index]]
                at += records
            elif keeps_state:
                at += [SettledEvent(record.fields) for record in records if record.changes_state]
        # Live events are the newest turns of a history that has grown, not of another one.
        newest, at = ((), self._records[-1]) if replaced and old else (live, before)
        places = _places(newest, turns, answered)
        others = {id(event) for event in live if _of_others(event)}
        for event in live:
            content = None
            if id(event) in places:
                at, content = lists[places[id(event)]], turns[places[id(event)]][1]
            elif id(event) in others or (others and not places and event.author == "user"):
                # What is said in place of an answer is in no turn, nor is what it was said to.
                content = None if event.content is None else wire_of(event.content)
            record = SettledEvent.recording(event, content)
            if content is not None or record.changes_state:
                at.append(record)
        invocation = newest[0].invocation_id if newest else None
        for place in sorted({*range(len(turns))} - {*became.values(), *places.values()}):
            lists[place] += self._fresh(kept + place, invocation)
        _say_anew(turns, lists)
        new = [before[shown:], *lists]
        if old:
            new, self.events, self.version = self._records, [], object()
        self.events += [record.event for records in new for record in records]

    def show(self, events: SessionEvents) -> None:
        """Put these events before the live ones of a session."""
        known = events.settled if events.version is self.version else 0
        events[known : events.settled] = self.events[known:]
        events.settled, events.version = len(self.events), self.version

    def add(self, fields: dict[str, Any]) -> None:
        """Put an event without a turn, and without content, at the end."""
        record = SettledEvent(fields)
        self._records[-1].append(record)
        self.events.append(record.event)

    def _fresh(self, index: int, invocation: str | None) -> list[SettledEvent]:
        """The event of a turn that was none; what a user says begins an invocation by itself."""
        turn_id, content = self._ids[index], self._contents[index]
        if turn_id == ENVIRONMENT_CONTEXT_ID:
            return []
        of_user = content.get("role") == "user" and not has_function_response(content)
        if invocation is None and not of_user:
            # A turn's own event comes first; what follows it may be of other invocations.
            before = (each[0] for each in reversed(self._records[: index + 1]) if each)
            invocation = next((record.fields["invocation_id"] for record in before), None)
        fields = {
            "id": turn_id,
            "invocation_id": invocation or f"e-{turn_id}",
            "author": "user" if of_user else AGENT_NAME,
            "timestamp": self._clock.now_ms() / 1000,
        }
        return [SettledEvent(fields, content)]


def _say_anew(turns: Sequence[HistoryTurn], lists: Sequence[Sequence[SettledEvent]]) -> None:
    """Give the only event of a turn the turn's content where another history has changed it.

    A resume adds recorded thoughts to what the model said. A rewind joins responses that are on
    record twice. The first turns of the user may begin with the environment's context, which no
    event says.
    """
    for (_, content), records in zip(turns, lists, strict=True):
        saying = [record for record in records if record.content is not None]
        if len(saying) != 1 or saying[0].content is content:
            continue
        parts, own = (each.get("parts") or [] for each in (content, saying[0].content or {}))
        may_begin = content.get("role") == "user" and not has_function_response(content)
        if parts[len(parts) - len(own) if may_begin else 0 :] != own:
            saying[0].say(content)


def _places(
    live: Sequence[Event], turns: Sequence[HistoryTurn], answered: str | None
) -> dict[int, int]:
    """Which turns live events were: the turns' indices by the events' identity (`id`).

    The user's first event is the user's first turn; the event with the id `answered` is the last
    turn, if the model said that. The history has turns beside those two: a placeholder for an
    answer that was broken off before the user's turn, binary data behind it.
    """
    roles = [content.get("role") for _, content in turns]
    said = [id(event) for event in live if event.content and event.content.role == "user"]
    answers = [id(event) for event in live if event.id == answered]
    places = {each: roles.index("user") for each in said[:1] if "user" in roles}
    if roles[-1:] == ["model"]:
        places.update(dict.fromkeys(answers, len(roles) - 1))
    return places


def _of_others(event: Event) -> bool:
    """Whether a plugin or a callback said this: what comes from the runtime carries its JSON."""
    content = event.content
    plain = content is not None and bool(content.parts) and not isinstance(content, WireContent)
    return plain and event.author != "user"
