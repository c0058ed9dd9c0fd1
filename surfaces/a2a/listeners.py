"""`Listener`: the events of one task on their way to one client."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from services.wire import JsonObject
from surfaces.a2a.responses import encoded
from surfaces.a2a.wire import RpcError, ends_task, is_final

__all__ = ["Listener", "Safe"]

_MOST: Final = 2000
_MOST_BYTES: Final = 16 * 1024 * 1024
"""The most events, and bytes of them, that wait for a client. A slower one loses its stream."""


Safe = Callable[[int], Awaitable[None]]
"""Returns when the save with a number has been written; raises `RpcError` where it cannot be."""


async def _at_once(_: int) -> None:
    """Nothing is saved."""


class Listener:
    """The events up to the first final one, or up to the end of the task.

    Iterating raises `RpcError` where the client reads too slowly; the task goes on without it.

    Args:
        safe: an event is not sent before its save has been written.
        follows: whether the events of further turns follow.
        most: the most events that may wait.
        most_bytes: the most bytes of them, as JSON.
    """

    def __init__(
        self,
        safe: Safe = _at_once,
        *,
        follows: bool = False,
        most: int = _MOST,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        self._safe = safe
        self._most_bytes = most_bytes
        self._bytes = 0
        self._is_last = ends_task if follows else is_final
        self._most = most
        self._waiting: deque[tuple[int, int, JsonObject]] = deque()
        self._news = asyncio.Event()
        self._too_slow = False
        self.ended = False
        """Whether the last event is among those so far."""

    def add(self, event: JsonObject, saved: int = 0) -> None:
        """Keep an event for the client; `saved` is the number of its save, 0 where it has none."""
        if self.ended or self._too_slow:
            return
        # A client that keeps up finds the list empty, and needs no count.
        size = len(encoded(event)) if self._waiting else 0
        if len(self._waiting) >= self._most or self._bytes + size > self._most_bytes:
            self._too_slow = True
            self._waiting.clear()
        else:
            self._waiting.append((saved, size, event))
            self._bytes += size
            self.ended = self._is_last(event)
        self._news.set()

    def end(self) -> None:
        """Let the last event so far be the last one."""
        self.ended = True
        self._news.set()

    async def events(self) -> AsyncIterator[JsonObject]:
        """The events, as they come.

        Raises:
            RpcError: too many events wait, or the task cannot be saved.
        """
        while True:
            while self._waiting:
                saved, size, event = self._waiting.popleft()
                self._bytes -= size
                await self._safe(saved)
                yield event
            if self._too_slow:
                raise RpcError(
                    -32603,
                    "Too much waits for this stream, which is read too slowly; call "
                    "tasks/resubscribe, and read faster",
                )
            if self.ended:
                return
            self._news.clear()
            await self._news.wait()
