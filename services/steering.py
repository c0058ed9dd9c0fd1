"""`InjectionService`: texts for a session while it works.

Hints are the user's; completions are reports of commands in the background. Every running child
gets them at once; the main loop's client submits them itself, in the interactive phase.

Source: core `config/injectionService.ts`, `utils/fastAckHelper.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from services.clock import Clock
from services.wire import js_trim

__all__ = ["Injection", "InjectionService", "InjectionSource"]

logger = logging.getLogger(__name__)


class InjectionSource(StrEnum):
    """The source of a text."""

    USER_STEERING = "user_steering"
    BACKGROUND_COMPLETION = "background_completion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One text, trimmed and not empty."""

    text: str
    source: InjectionSource
    at_ms: int


class InjectionService:
    """The session's injections in order, and their listeners."""

    def __init__(self, clock: Clock, *, steering: bool) -> None:
        """Make an empty one. `steering`: whether hints of the user's are taken at all."""
        self._clock = clock
        self._steering = steering
        self._injections: list[Injection] = []
        self._listeners: dict[object, Callable[[Injection], None]] = {}

    def add(self, text: str, source: InjectionSource) -> None:
        """Store a text and call the listeners; one that raises is logged and skipped."""
        if source is InjectionSource.USER_STEERING and not self._steering:
            return
        trimmed = js_trim(text)
        if not trimmed:
            return
        injection = Injection(text=trimmed, source=source, at_ms=self._clock.now_ms())
        self._injections.append(injection)
        for listener in list(self._listeners.values()):
            try:
                listener(injection)
            except Exception:
                logger.exception("a listener of injections failed")

    @property
    def latest(self) -> int:
        """The index of the newest injection; -1 where there is none."""
        return len(self._injections) - 1

    def after(self, index: int, source: InjectionSource | None = None) -> list[str]:
        """The texts after `index` (all, after a negative one), of `source` if it is given."""
        found = self._injections if index < 0 else self._injections[index + 1 :]
        return [each.text for each in found if source in (None, each.source)]

    def listen(self, listener: Callable[[Injection], None]) -> Callable[[], None]:
        """Call `listener` with every injection from now on; returns the unsubscribe."""
        key = object()
        self._listeners[key] = listener

        def off() -> None:
            self._listeners.pop(key, None)

        return off

    def clear(self) -> None:
        """Forget everything, as a conversation begun anew does."""
        self._injections.clear()
