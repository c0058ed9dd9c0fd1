"""`InjectionService`: texts for a session while it works.

Hints are the user's; completions are reports of commands in the background. Every child that runs
gets them at once. In an interactive session they also wait in `MainInbox` for the main loop.

Source: core `config/injectionService.ts`; of the main loop, the command line tool's
`ui/AppContainer.tsx` and `ui/hooks/useGeminiStream.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from services.clock import Clock
from services.state import CoreEvents, HintsKept
from services.steering_texts import steering_update
from services.wire import Part, js_trim

__all__ = ["Injection", "InjectionService", "InjectionSource", "MainInbox"]

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


class MainInbox:
    """The injections that wait for the main loop's model, of both sources alike.

    They go in front of the next results of tools. Where hints of the user are on, a client takes
    them as a prompt of its own while the main loop is idle. Nothing takes them in a session that is
    not interactive.
    """

    def __init__(self, events: CoreEvents, *, steering: bool, interactive: bool) -> None:
        self._events = events
        self._steering = steering
        self._interactive = interactive
        self._waiting: list[str] = []
        self._offered: tuple[Part, int] | None = None
        """The part of the request that is being prepared, and how many texts it has."""

    def add(self, text: str) -> None:
        """Keep a text for the main loop."""
        if self._interactive:
            self._waiting.append(text)

    def before_answers(self, answers: list[Part]) -> list[Part]:
        """Return the parts of the next message: what waits, then the answers of tools.

        The texts wait on until `request_sent` gets the parts. Other messages stay as they are.
        """
        self._offered = None
        if not self._waiting or not any("functionResponse" in part for part in answers):
            return answers
        part: Part = {"text": steering_update("\n".join(self._waiting))}
        self._offered = part, len(self._waiting)
        return [part, *answers]

    def request_sent(self, parts: list[Part]) -> None:
        """Forget the texts that are in a message which the history has taken."""
        if self._offered is not None and self._offered[0] in parts:
            del self._waiting[: self._offered[1]]
            self._offered = None

    def take_prompt(self) -> str | None:
        """Return what waits as a prompt of its own, and forget it; `None` for nothing."""
        if not self._waiting or not self._steering:
            return None
        prompt = steering_update("\n".join(self._waiting))
        self.clear()
        return prompt

    def stream_ended(self) -> None:
        """Emit what no request of the stream took; it waits for the next stream."""
        if self._waiting:
            self._events.emit(HintsKept(texts=tuple(self._waiting)))

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()
        self._offered = None


class InjectionService:
    """The session's injections in order, and their listeners."""

    def __init__(
        self,
        clock: Clock,
        *,
        steering: bool,
        interactive: bool = False,
        events: CoreEvents | None = None,
    ) -> None:
        """Make an empty one.

        Args:
            clock: gives the time of an injection.
            steering: whether hints of the user are taken at all.
            interactive: whether the main loop takes injections.
            events: gets `HintsKept`.
        """
        self.main = MainInbox(events or CoreEvents(), steering=steering, interactive=interactive)
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
        self.main.add(trimmed)
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
        """Forget everything, as for a new conversation."""
        self._injections.clear()
        self.main.clear()
