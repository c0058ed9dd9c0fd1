"""`ThreadPaths`: the thread of a model request, as a path of calls.

The thread follows from the tool call in whose execution the request is made. It is `main`, or `T/C`
for call C of model turn T of the main thread, both from 0. A grandchild's path is its parent's with
`/T/C` appended. Source: the cassette format, "Model steps", `thread`; of
`executing_call`: core `utils/toolCallContext.ts`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Final

from services.message_bus import MessageBus, ToolCallsUpdate
from services.model.generator import (
    ChunkStream,
    ContentGenerator,
    EmbedRequest,
    LlmRole,
    ModelRequest,
)
from services.wire import JsonObject

__all__ = [
    "MAIN",
    "ThreadPaths",
    "ThreadedContentGenerator",
    "executing_call",
    "follow_calls",
    "outside_calls",
    "thread_order",
    "within_call",
]

MAIN: Final = "main"
_TURNS: Final = frozenset({LlmRole.MAIN, LlmRole.SUBAGENT})

_executing: ContextVar[str | None] = ContextVar("executing_call", default=None)


def executing_call() -> str | None:
    """The id of the tool call in whose execution this task runs, if any."""
    return _executing.get()


@contextmanager
def outside_calls() -> Iterator[None]:
    """Mark what this task does as outside of calls: an action of the user while an agent works."""
    token = _executing.set(None)
    try:
        yield
    finally:
        _executing.reset(token)


@contextmanager
def within_call(call_id: str) -> Iterator[None]:
    """Mark what this task does, and tasks it starts, as part of the execution of a call."""
    token = _executing.set(call_id)
    try:
        yield
    finally:
        _executing.reset(token)


def thread_order(path: str) -> tuple[tuple[int, int], ...]:
    """A key by which threads are sorted: `main`, then by turn and call, each before its own."""
    if path == MAIN:
        return ()
    numbers = [int(number) for number in path.split("/")]
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


@dataclass(slots=True)
class _Thread:
    """A thread's model turns that have ended, and the calls of the latest that are unaccounted."""

    turns: int = 0
    calls: int = 0
    """How many calls the latest turn with calls has."""
    by_id: dict[str, deque[int]] = field(default_factory=dict)
    """Places of those that came with an id, by it, alone and after the name."""
    by_name: dict[str, deque[int]] = field(default_factory=dict)
    """Places of those whose id the core has to make, by name."""
    taken: set[int] = field(default_factory=set)
    first_free: int = 0
    """No place before this one is free."""
    highest: int = -1
    """The last place that is taken."""
    open: bool = False
    """The latest turn's stream has not ended; its reader may have left it."""

    def forget_calls(self) -> None:
        """Begin a turn without calls."""
        self.calls = self.first_free = 0
        self.highest = -1
        self.by_id.clear()
        self.by_name.clear()
        self.taken.clear()

    def add_call(self, given: object, name: str) -> None:
        """Take up a call of the turn. `given` is what came as its id, whatever it is."""
        if given is None:
            self.by_name.setdefault(name, deque()).append(self.calls)
        else:
            known_as = {f"{name}__{given}"} | ({given} if isinstance(given, str) else set())
            for known in known_as:
                self.by_id.setdefault(known, deque()).append(self.calls)
        self.calls += 1

    def asks_for(self, call_id: str) -> bool:
        """Whether the turn has a call of this id that is not accounted for: it is given again."""
        return self._next_free(self.by_id.get(call_id)) is not None

    def place(self, call_id: str, name: str) -> int:
        """Which of the turn's calls it is: by its id, else the first of that name that is left."""
        place = self._next_free(self.by_id.get(call_id))
        if place is None:
            place = self._next_free(self.by_name.get(name))
        if place is None:
            while self.first_free in self.taken:
                self.first_free += 1
            # An attempt that failed has its calls run as well. They take places that the next one's
            # lack: those after its calls and after what is taken.
            free = self.first_free < self.calls
            place = self.first_free if free else max(self.calls, self.highest + 1)
        self.taken.add(place)
        self.highest = max(self.highest, place)
        return place

    def _next_free(self, places: deque[int] | None) -> int | None:
        while places and places[0] in self.taken:
            places.popleft()
        return places[0] if places else None


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
        if state.open and state.taken:
            state.turns += 1  # It was left, and its calls were run all the same.
        state.open = True
        state.forget_calls()

    def chunk(self, thread: str, chunk: JsonObject) -> None:
        """A chunk of the turn was handed out."""
        state = self._threads[thread]
        for candidate in (chunk.get("candidates") or [])[:1]:
            for part in (candidate.get("content") or {}).get("parts") or []:
                call = part.get("functionCall")
                if isinstance(call, dict):
                    state.add_call(call.get("id"), str(call.get("name")))

    def turn_ended(self, thread: str) -> None:
        """The turn's stream has come to its end."""
        state = self._threads[thread]
        state.turns += 1
        state.open = False

    def of_call(self, call_id: str) -> str:
        """The path that a child started by this call has; `main` for an unknown call."""
        return self._calls.get(call_id, (MAIN, MAIN))[1]

    def child(self, call_id: str) -> str:
        """The path of a child that is started now, by this call."""
        self._children.add(call_id)
        return self.of_call(call_id)

    def making(self, call_id: str) -> str:
        """The thread on which this call is made; `main` for an unknown call."""
        return self._calls.get(call_id, (MAIN, MAIN))[0]

    def inside(self, call_id: str | None) -> str:
        """The thread on which something happens inside the execution of this call, if any."""
        return self.of_request(call_id, LlmRole.MAIN)

    def call(self, call_id: str, name: str, parent: str | None) -> None:
        """A scheduler has taken in a call; `parent` is the call whose execution it serves."""
        within = MAIN if parent is None else self._calls.get(parent, (MAIN, MAIN))[1]
        state = self._threads.setdefault(within, _Thread())
        turn = state.turns if state.open else max(state.turns - 1, 0)
        if call_id in self._calls:
            thread, path = self._calls[call_id]
            anew = thread == within and int(path.split("/")[-2]) < turn
            if not (anew and state.asks_for(call_id)):
                return
            self._children.discard(call_id)
        own = f"{turn}/{state.place(call_id, name)}"
        self._calls[call_id] = within, own if within == MAIN else f"{within}/{own}"


class ThreadedContentGenerator:
    """A model that sets the thread of every request.

    Args:
        inner: The model.
        threads: Finds the thread of a request.
        abreast: Agents of one turn run directly, not as sessions of their own. Agents that begin
            together then all ask before the first request is sent: upstream, a request passes
            several layers first, while sessions begin one after the other.
    """

    def __init__(
        self, inner: ContentGenerator, threads: ThreadPaths, *, abreast: bool = False
    ) -> None:
        self._inner = inner
        self._threads = threads
        self._abreast = abreast

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Ask on the request's thread."""
        return await self._inner.generate_content(self._placed(request))

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Ask on the request's thread; a turn's calls are counted as they come."""
        placed = self._placed(request)
        if self._abreast and placed.role is LlmRole.SUBAGENT:
            await asyncio.sleep(0)
        if placed.role not in _TURNS:
            return await self._inner.generate_content_stream(placed)
        self._threads.turn_begins(placed.thread)
        return self._turn(placed.thread, await self._inner.generate_content_stream(placed))

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Ask on the request's thread."""
        return await self._inner.count_tokens(self._placed(request))

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Ask; embeddings belong to no thread."""
        return await self._inner.embed_content(request)

    def _placed(self, request: ModelRequest) -> ModelRequest:
        if request.thread != MAIN:  # set by the published core's driver
            return request
        thread = self._threads.of_request(executing_call(), request.role)
        return request if thread == MAIN else replace(request, thread=thread)

    async def _turn(self, thread: str, stream: ChunkStream) -> AsyncGenerator[JsonObject, None]:
        async with aclosing(stream):
            async for chunk in stream:
                self._threads.chunk(thread, chunk)
                yield chunk
        self._threads.turn_ended(thread)


def follow_calls(threads: ThreadPaths, bus: MessageBus) -> None:
    """Report every call that a scheduler takes in to `threads`."""

    def update(message: ToolCallsUpdate) -> None:
        for call in message.calls:
            threads.call(call.call_id, call.name, call.parent_call_id)

    bus.subscribe(ToolCallsUpdate, update)
