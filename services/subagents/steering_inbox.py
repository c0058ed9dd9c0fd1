"""What a child is sent while it runs: the user's hints, and ends of background commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.steering import Injection, InjectionService, InjectionSource
from services.subagents.injected import injected_parts
from services.wire import Part

__all__ = ["SteeringInbox"]


class SteeringInbox:
    """What was sent since the last turn."""

    def __init__(self, steering: InjectionService) -> None:
        self._steering = steering
        self._hints: list[str] = []
        self._completions: list[str] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Empty the inbox, and fill it until the context is left: a child in recovery gets nothing.

        Source: core `agents/local-executor.ts` (`runInternal`).
        """
        self._hints, self._completions = [], []
        off = self._steering.listen(self._keep)
        try:
            yield
        finally:
            off()

    def before_answers(self, answers: list[Part]) -> list[Part]:
        """Return the parts of the next message, and empty the inbox."""
        parts = injected_parts(self._hints, self._completions)
        self._hints, self._completions = [], []
        return [*parts, *answers]

    def _keep(self, injection: Injection) -> None:
        hint = injection.source is InjectionSource.USER_STEERING
        (self._hints if hint else self._completions).append(injection.text)
