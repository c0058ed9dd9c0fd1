"""`SteeringInbox`: what is injected while a subagent works, for its next message.

Source: core `agents/local-executor.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from services.steering import Injection, InjectionService, InjectionSource
from services.steering_texts import background_completion, user_hints
from services.wire import Part

__all__ = ["SteeringInbox", "injected_parts"]


def injected_parts(hints: Sequence[str], completions: Sequence[str]) -> list[Part]:
    """Return the parts before the answers to an agent's calls: joined completions, then hints."""
    parts: list[Part] = []
    if completions:
        parts.append({"text": background_completion("\n".join(completions))})
    hint_text = user_hints(hints)
    if hint_text is not None:
        parts.append({"text": hint_text})
    return parts


class SteeringInbox:
    """Collects the injections since an agent's last turn."""

    def __init__(self, steering: InjectionService) -> None:
        self._steering = steering
        self._hints: list[str] = []
        self._completions: list[str] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Empty the inbox and collect until the context ends; a child in recovery gets nothing.

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

    def request_sent(self, parts: list[Part]) -> None:
        """Do nothing: `before_answers` has emptied the inbox."""

    def _keep(self, injection: Injection) -> None:
        hint = injection.source is InjectionSource.USER_STEERING
        (self._hints if hint else self._completions).append(injection.text)
