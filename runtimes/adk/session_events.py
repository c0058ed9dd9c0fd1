"""`SessionEvents`: the list in `session.events`, with events of settled turns made when read.

A settled turn keeps a small record here: the content that the history holds, and the fields that
its ADK event had beside the content. The list holds an `UnreadEvent` for it, which becomes an
ordinary `Event` when any of its attributes is read. So the list is a plain list for its readers
(iteration, slices, copies, pydantic), and a conversation that is never read makes no event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.sessions.session import Session
from pydantic import ConfigDict

from runtimes.adk.notes import WireContent, note_of, wire_of
from services.wire import Content, Part

__all__ = ["SessionEvents", "SettledEvent", "UnreadEvent", "live_events", "write_parts"]

_RECORD: Final = "settled record"
_KEPT: Final = (
    "id",
    "invocation_id",
    "author",
    "timestamp",
    "branch",
    "custom_metadata",
    "usage_metadata",
    "model_version",
    "finish_reason",
)
"""The fields of an event that its record keeps beside content and actions."""
_SLOTS: Final = (
    "__dict__",
    "__pydantic_fields_set__",
    "__pydantic_extra__",
    "__pydantic_private__",
)


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
        named = ((name, getattr(event, name)) for name in _KEPT)
        fields = {name: value for name, value in named if value is not None}
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
        if self.content is None or not any(id(part) in changed for part in self.parts):
            return
        if type(self.event) is Event:
            _put_parts(self.event, self.content, changed)
        self.content = _with(self.content, changed)

    def without_content(self) -> SettledEvent:
        """What is left of the event where its turn has gone: what it did to state."""
        return SettledEvent(self.fields, None)


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


def _put_parts(event: Event, wire: Content, changed: Mapping[int, Part]) -> None:
    """Replace parts of an event's content; all other parts stay the same objects.

    Args:
        event: The event.
        wire: Its content as it was, as the API's JSON.
        changed: The new parts under the identity (`id`) of the old ones in `wire`.
    """
    was = (event.content.parts if event.content else None) or []
    content = WireContent.of(_with(wire, changed), note_of(event))
    if len(was) == len(wire["parts"]):
        content.parts = [
            new if id(part) in changed else old
            for part, old, new in zip(wire["parts"], was, content.parts or (), strict=True)
        ]
    event.content = content


def write_parts(event: Event, changed: Mapping[int, Part]) -> None:
    """`_put_parts` for an event that carries its own JSON, if any of its parts is changed."""
    wire = {} if event.content is None else wire_of(event.content)
    if any(id(part) in changed for part in wire.get("parts") or ()):
        _put_parts(event, wire, changed)


def _with(wire: Content, changed: Mapping[int, Part]) -> Content:
    return {**wire, "parts": [changed.get(id(part), part) for part in wire["parts"]]}
