"""What a child hears while it runs: the user's hints, and ends of background commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.steering import Injection, InjectionService, InjectionSource
from services.subagents.injected import injected_parts
from services.wire import Part

__all__ = ["ChildHearing", "hearing"]


class ChildHearing:
    """What was said since the last turn."""

    def __init__(self) -> None:
        self._hints: list[str] = []
        self._completions: list[str] = []

    def note(self, said: Injection) -> None:
        """Keep it for the next turn."""
        hint = said.source is InjectionSource.USER_STEERING
        (self._hints if hint else self._completions).append(said.text)

    def taken(self) -> list[Part]:
        """What goes before the next message; it is told once."""
        parts = injected_parts(self._hints, self._completions)
        self._hints, self._completions = [], []
        return parts


@contextmanager
def hearing(steering: InjectionService) -> Iterator[ChildHearing]:
    """Listen while a child's loop runs. What was said before is not told; neither is what comes
    after, while it recovers.

    Source: core `agents/local-executor.ts` (`runInternal`).
    """
    heard = ChildHearing()
    off = steering.listen(heard.note)
    try:
        yield heard
    finally:
        off()
