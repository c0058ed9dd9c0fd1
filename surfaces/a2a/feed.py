"""`TaskFeed`: what happens to a task, on its way to the disk, to streams and to callbacks."""

from __future__ import annotations

from typing import Final, Protocol

from services.wire import JsonObject
from surfaces.a2a.listeners import Listener
from surfaces.a2a.record import TaskRecord

__all__ = ["NO_CALLBACKS", "Notifier", "Saves", "TaskFeed"]


class Saves(Protocol):
    """Keeps the records of tasks, as `TaskStore` does."""

    def save(self, record: TaskRecord) -> int:
        """Note that a task has changed; the number is for `safe`."""

    async def safe(self, number: int) -> None:
        """Return when the save with this number has been written.

        Raises:
            RpcError: it cannot be.
        """


class Notifier(Protocol):
    """Makes the callbacks of tasks, as `Callbacks` does."""

    def mark(self, record: TaskRecord, event: JsonObject) -> bool:
        """Note in the task which callbacks are due for an event; whether any is."""

    def begin(self, feed: TaskFeed, event: JsonObject | None, saved: int) -> None:
        """Make the callbacks that are due for an event, once its save has been written."""


class _NoCallbacks:
    """Makes no callbacks."""

    def mark(self, record: TaskRecord, event: JsonObject) -> bool:
        """Nothing is due."""
        return False

    def begin(self, feed: TaskFeed, event: JsonObject | None, saved: int) -> None:
        """Do nothing."""


NO_CALLBACKS: Final = _NoCallbacks()


class TaskFeed:
    """The record of a task, and those who follow it. A feed outlives the task's session.

    Args:
        record: the task's record.
        saves: where it is kept.
        notifier: makes its callbacks.
    """

    def __init__(self, record: TaskRecord, saves: Saves, notifier: Notifier = NO_CALLBACKS) -> None:
        self.record = record
        self._saves = saves
        self._notifier = notifier
        self._listeners: list[Listener] = []
        self.saved = 0
        """The number of the last save."""

    @property
    def is_followed(self) -> bool:
        """Whether a client reads what happens to the task."""
        return any(not each.ended for each in self._listeners)

    def listen(self, *, follows: bool = False) -> Listener:
        """The events from now on, to the end of the turn; with `follows` to that of the task."""
        listener = Listener(self._saves.safe, follows=follows)
        self._listeners = [each for each in self._listeners if not each.ended]
        self._listeners.append(listener)
        return listener

    def forget(self, listener: Listener) -> None:
        """Forget a listener whose client is gone."""
        self._listeners = [each for each in self._listeners if each is not listener]

    def end(self) -> None:
        """End what those who follow the task read."""
        for listener in self._listeners:
            listener.end()

    def publish(self, event: JsonObject, *, remembers: bool = True) -> None:
        """Take over what an event changes, and pass it on.

        Args:
            event: the event of A2A 0.3.
            remembers: whether the history keeps its message; if not, the event repeats itself, and
                nothing waits until it is saved.
        """
        if self.record.is_over:
            return
        self.record.apply(event, remembers=remembers)
        is_due = remembers and self._notifier.mark(self.record, event)
        saved = self.keep()
        for listener in self._listeners:
            listener.add(event, saved if remembers else 0)
        if is_due:
            self._notifier.begin(self, event, saved)

    def keep(self) -> int:
        """Save the record; return the number of the save."""
        self.saved = self._saves.save(self.record)
        return self.saved

    async def kept(self) -> None:
        """Return when the last save has been written.

        Raises:
            RpcError: it cannot be.
        """
        await self._saves.safe(self.saved)

    async def safe(self, number: int) -> None:
        """Return when the save with this number has been written.

        Raises:
            RpcError: it cannot be.
        """
        await self._saves.safe(number)
