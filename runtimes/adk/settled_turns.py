"""`SettledTurns`: the ADK events of a conversation's settled turns, in step with its history.

The history is the conversation's: it grows at its end, goes back after an abort or a failure, and
is replaced by another one (masking, compression, resume, rewind). Here each of its turns has the
records of the events that it is in ADK's session. A turn that takes the place of others keeps their
records: masking and compression leave the parts of what they keep the same objects, a resume and a
rewind leave the turns' ids. A turn that came from elsewhere (a recording, a summary) gets an event
whose ids are made of the turn's id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from google.adk.events.event import Event

from runtimes.adk.notes import WireContent, wire_of
from runtimes.adk.session_events import SessionEvents, SettledEvent
from services.history.prefix import shared_prefix
from services.history.transforms import has_function_response
from services.history.view import RequestView
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.wire import Content, Part

__all__ = ["AGENT_NAME", "History", "SettledTurns"]

AGENT_NAME: Final = "gemini_cli_agent"
"""The agent's name, and so the author of its events."""

_Call = tuple[str, str]


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
        raw, ids = self._history.view.raw, self._history.turn_ids
        if not live and raw is self._raw and self._follows(raw):
            return
        if raw is not self._raw:
            self._replace(raw, ids, now, keeps_state)
        self._shorten(raw)
        self._grow(raw, ids, live, now)

    def show(self, events: SessionEvents) -> None:
        """Put these events before the live ones of a session."""
        known = events.settled if events.version == self.version else 0
        events[known : events.settled] = self.events[known:]
        events.settled, events.version = len(self.events), self.version

    def ends_with(self, content: Content | None) -> bool:
        """Whether the history's last turn is this very object."""
        raw = self._history.view.raw
        return content is not None and bool(raw) and raw[-1] is content

    def put(self, changed: Mapping[int, Part]) -> None:
        """Replace parts: `changed` has the new ones under the identity (`id`) of the old ones."""
        for records in self._records:
            for record in records:
                record.put(changed)

    def add(self, record: SettledEvent) -> None:
        """Put an event without a turn at the end."""
        self._behind(len(self._records) - 1).append(record)
        self.events.append(record.event)

    def _follows(self, raw: Sequence[Content]) -> bool:
        """Whether these are the turns known; one never comes back once it was taken away."""
        return len(raw) == len(self._contents) and (not raw or raw[-1] is self._contents[-1])

    def _replace(
        self, raw: Sequence[Content], ids: Sequence[str], now: float, keeps_state: bool
    ) -> None:
        """Take another history: its turns keep the records of the turns that they were."""
        kept = shared_prefix(self._contents, raw)
        self._raw = raw
        if kept == len(self._contents):
            self._ids = list(ids[:kept])
            return
        origins = _Origins(self._ids[kept:], self._records[kept:], ids[kept:])
        self._contents, self._ids = self._contents[:kept], list(ids[:kept])
        del self._records[kept:]
        for turn_id, content in zip(ids[kept:], raw[kept:], strict=True):
            records = origins.of(turn_id, content, len(self._records))
            self._append(turn_id, content, records or self._fresh(turn_id, content, now, None))
        self._drop(origins.unused(kept - 1) if keeps_state else ())

    def _shorten(self, raw: Sequence[Content]) -> None:
        """Forget the turns that were taken back, not what came of them."""
        known = min(len(self._contents), len(raw))
        while known and self._contents[known - 1] is not raw[known - 1]:
            known -= 1
        if known == len(self._contents):
            return
        gone = [record for records in self._records[known:] for record in records]
        del self._contents[known:], self._ids[known:], self._records[known:]
        self._drop((known - 1, record) for record in gone)

    def _drop(self, gone: Iterable[tuple[int, SettledEvent]]) -> None:
        """Keep what events did to state whose turns are gone, behind the turn at the index."""
        for at, record in gone:
            if record.changes_state:
                self._behind(at).append(record.without_content())
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
        self._keep_others(live, settled, start - 1)

    def _keep_others(self, live: Sequence[Event], settled: Mapping[int, int], at: int) -> None:
        """Keep what is in no turn: what others than the runtime said or changed.

        What they said to a user's message takes the place of an answer, so the message stays too.
        """
        others = {id(event) for event in live if _of_others(event)}
        for event in live:
            at = settled.get(id(event), at)
            if id(event) in settled:
                continue
            content = event.content
            said = id(event) in others or (bool(others) and event.author == "user")
            shown = wire_of(content) if said and content is not None else None
            record = SettledEvent.recording(event, shown)
            if shown is not None or record.changes_state:
                self._behind(at).append(record)
                self._flatten()

    def _append(self, turn_id: str, content: Content, records: list[SettledEvent]) -> None:
        self._contents.append(content)
        self._ids.append(turn_id)
        self._records.append(records)

    def _fresh(
        self, turn_id: str, content: Content, now: float, invocation: str | None
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
        self._by_part: dict[int, int] = {}
        self._by_call: dict[_Call, tuple[int, Part]] = {}
        self._used = set(self._by_id.values())
        self._now_at: dict[int, int] = {}
        for index, settled in enumerate(records):
            for record in settled:
                for part in record.parts:
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
        index = self._by_part.get(id(part))
        call = _call_of(part)
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
    if start < 0:
        return
    for record in held:
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
