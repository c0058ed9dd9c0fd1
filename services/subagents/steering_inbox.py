"""What a child is sent while it runs: the user's hints, and ends of background commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.steering import Injection, InjectionService, InjectionSource
from services.subagents.injected import injected_parts
from services.wire import Part

__all__ = ["SteeringInbox", "steering_inbox"]


class SteeringInbox:
    """What was sent since the last turn."""

    def __init__(self) -> None:
        self._hints: list[str] = []
        self._completions: list[str] = []

    def note(self, injection: Injection) -> None:
        """Keep it for the next turn."""
        hint = injection.source is InjectionSource.USER_STEERING
        (self._hints if hint else self._completions).append(injection.text)

    def taken(self) -> list[Part]:
        """Return what goes before the next message, and forget it."""
        parts = injected_parts(self._hints, self._completions)
        self._hints, self._completions = [], []
        return parts


@contextmanager
def steering_inbox(steering: InjectionService) -> Iterator[SteeringInbox]:
    """Yield an inbox that fills while a child's loop runs.

    Leaving the context stops the filling: a child in recovery gets nothing.

    Source: core `agents/local-executor.ts` (`runInternal`).
    """
    inbox = SteeringInbox()
    off = steering.listen(inbox.note)
    try:
        yield inbox
    finally:
        off()
