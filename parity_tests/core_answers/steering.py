"""Hints of the user and ends of background commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.clock import VirtualClock
from services.steering import Injection, InjectionService, InjectionSource
from services.steering_texts import background_completion, steering_update, user_hints

__all__ = ["SUBJECTS"]


def _texts(hints: list[str]) -> list[str | None]:
    joined = "\n".join(hints)
    return [user_hints(hints), steering_update(joined), background_completion(joined)]


class _Script:
    """Calls of one service, in order."""

    def __init__(self, steering: bool) -> None:
        self._service = InjectionService(VirtualClock(), steering=steering)
        self._heard: list[list[str]] = []
        self._off: dict[str, Callable[[], None]] = {}

    def play(self, call: str, *rest: Any) -> Any:
        if call == "add":
            self._heard = []
            self._service.add(rest[0], InjectionSource(rest[1]))
            return self._heard
        if call == "latest":
            return self._service.latest
        if call == "after":
            source = InjectionSource(rest[1]) if rest[1] else None
            return self._service.after(rest[0], source)
        if call == "listen":
            self._off[rest[0]] = self._service.listen(self._listener(*rest))
        elif call == "off":
            self._off[rest[0]]()
        elif call == "clear":
            self._service.clear()
        return None

    def _listener(self, name: str, fails: bool) -> Callable[[Injection], None]:
        def listener(injection: Injection) -> None:
            self._heard.append([name, injection.text, injection.source])
            if fails:
                raise ValueError("failed")

        return listener


def _injections(asked: dict[str, Any]) -> list[Any]:
    script = _Script(asked["steering"])
    return [script.play(*call) for call in asked["calls"]]


SUBJECTS: Final = (
    Subject("steering.texts", _texts),
    Subject("steering.injections", _injections),
)
