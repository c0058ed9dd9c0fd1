"""`EventLog`: an agent's trajectory and its subscribers, the same for every agent.

Source: reference `agent-protocol.md`, sections 1.3 and 12.2. Unlike upstream, a subscriber that
raises is logged and skipped: there it can leave the session active for ever.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from agent_protocol.agent import Subscriber, Unsubscribe
from agent_protocol.events import AgentEvent

__all__ = ["EventLog"]

_log = logging.getLogger(__name__)


class EventLog:
    """Stores what an agent emits, then passes it to the subscribers.

    Not for use from several threads: everything happens in the caller's.
    """

    def __init__(self) -> None:
        self._stored: list[AgentEvent] = []
        self._ids: set[str] = set()
        self._view = _LiveView(self._stored)
        # A dict keeps subscription order and, like upstream's Set, holds a callback once.
        self._subscribers: dict[Subscriber, None] = {}

    @property
    def events(self) -> Sequence[AgentEvent]:
        """A live, read-only view of everything stored, oldest first. Never shrinks."""
        return self._view

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event of every batch that begins after this call.

        A callback that is already subscribed stays subscribed once, at its first place. The
        returned function ends that one registration; its second call does nothing.
        """
        self._subscribers.setdefault(callback)
        spent = False

        def unsubscribe() -> None:
            nonlocal spent
            if not spent:
                spent = True
                self._subscribers.pop(callback, None)

        return unsubscribe

    def emit(self, events: Iterable[AgentEvent]) -> None:
        """Store and deliver one batch.

        Subscribers are those of the moment the batch begins: one that leaves during the batch
        still gets the rest of it, one that comes waits for the next. An event whose id is
        already stored is not stored again, but delivered all the same.
        """
        subscribers = tuple(self._subscribers)
        for event in events:
            if event.id not in self._ids:
                self._ids.add(event.id)
                self._stored.append(event)
            for subscriber in subscribers:
                _deliver(subscriber, event)


def _deliver(subscriber: Subscriber, event: AgentEvent) -> None:
    try:
        subscriber(event)
    # Foreign code: whatever it raises must not change the run. `CancelledError` can only be the
    # subscriber's own here (a cancelled future's result), since nothing awaits.
    except (Exception, asyncio.CancelledError):  # noqa: BLE001 - see above
        _log.exception("A subscriber raised on event %s (%s); skipped", event.id, event.type)


class _LiveView(Sequence[AgentEvent]):
    """A list that can be read and not written."""

    __slots__ = ("_items",)

    def __init__(self, items: list[AgentEvent]) -> None:
        self._items = items

    @overload
    def __getitem__(self, index: int) -> AgentEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[AgentEvent]: ...
    def __getitem__(self, index: int | slice) -> AgentEvent | Sequence[AgentEvent]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[AgentEvent]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"<{len(self._items)} events>"
