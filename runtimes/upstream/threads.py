"""`ThreadPaths`: on whose behalf a model request is made, as a path of calls.

The core tells inside which tool call's execution a request is made; the harness speaks of `main`
and of `T/C`, call C of model turn T of the main thread, both from 0, a grandchild's path being its
parent's with `/T/C` appended. Source: the cassette format, "Model steps", `thread`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from services.model.generator import LlmRole
from services.wire import JsonObject

__all__ = ["MAIN", "ThreadPaths"]

MAIN: Final = "main"


@dataclass(slots=True)
class _Thread:
    """A thread's model turns that have ended, and the calls of the latest that are unaccounted."""

    turns: int = 0
    calls: list[tuple[str | None, str]] = field(default_factory=list)
    """Of the latest turn with calls: (id, name); `None` for an id that the core has to make."""
    taken: set[int] = field(default_factory=set)


class ThreadPaths:
    """Follows a session's streams and calls. Feed it in the order in which things happen."""

    def __init__(self) -> None:
        self._threads: dict[str, _Thread] = {}
        self._calls: dict[str, tuple[str, str]] = {}
        """Call id → the thread that made it, and its path."""
        self._children: set[str] = set()

    def of_request(self, call_id: str | None, role: LlmRole) -> str:
        """The thread of a request made inside the execution of `call_id`, if any."""
        if call_id is None or call_id not in self._calls:
            return MAIN
        if role is LlmRole.SUBAGENT:
            self._children.add(call_id)
        within, path = self._calls[call_id]
        return path if call_id in self._children else within

    def turn_begins(self, thread: str) -> None:
        """A model turn is asked for."""
        state = self._threads.setdefault(thread, _Thread())
        state.calls.clear()
        state.taken.clear()

    def chunk(self, thread: str, chunk: JsonObject) -> None:
        """A chunk of the turn was handed out."""
        state = self._threads[thread]
        for candidate in (chunk.get("candidates") or [])[:1]:
            for part in (candidate.get("content") or {}).get("parts") or []:
                call = part.get("functionCall")
                if isinstance(call, dict):
                    state.calls.append((call.get("id"), str(call.get("name"))))

    def turn_ended(self, thread: str) -> None:
        """The turn's stream has come to its end."""
        self._threads[thread].turns += 1

    def call(self, call_id: str, name: str, parent: str | None) -> None:
        """A scheduler has taken in a call; `parent` is the call whose execution it serves."""
        if call_id in self._calls:
            return
        within = MAIN if parent is None else self._calls.get(parent, (MAIN, MAIN))[1]
        state = self._threads.setdefault(within, _Thread())
        own = f"{max(state.turns - 1, 0)}/{_place(state, call_id, name)}"
        self._calls[call_id] = within, own if within == MAIN else f"{within}/{own}"


def _place(state: _Thread, call_id: str, name: str) -> int:
    """Which of the turn's calls it is: by its id, else the first of that name that is left."""
    free = [n for n in range(len(state.calls)) if n not in state.taken]
    by_id = [n for n in free if state.calls[n][0] == call_id]
    by_name = [n for n in free if state.calls[n][0] is None and state.calls[n][1] == name]
    place = (by_id or by_name or free or [len(state.calls)])[0]
    state.taken.add(place)
    return place
