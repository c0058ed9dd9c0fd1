"""`Listener`: the events of one task on their way to one client."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from services.wire import JsonObject
from surfaces.a2a.wire import RpcError, is_final

__all__ = ["Listener"]

_MOST: Final = 2000
"""The most events that wait for a client. A client that reads more slowly loses its stream."""


class Listener:
    """The events up to the first final one.

    Iterating raises `RpcError` where the client reads too slowly; the task goes on without it.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._waiting: deque[JsonObject] = deque()
        self._news = asyncio.Event()
        self._too_slow = False
        self.ended = False
        """Whether the final event is among those so far."""

    def add(self, event: JsonObject) -> None:
        """Keep an event for the client."""
        if self.ended or self._too_slow:
            return
        if len(self._waiting) >= self._most:
            self._too_slow = True
            self._waiting.clear()
        else:
            self._waiting.append(event)
            self.ended = is_final(event)
        self._news.set()

    async def events(self) -> AsyncIterator[JsonObject]:
        """The events, as they come.

        Raises:
            RpcError: too many events wait.
        """
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._too_slow:
                raise RpcError(
                    -32603,
                    f"More than {self._most} events wait for this stream; call tasks/resubscribe, "
                    "and read faster",
                )
            if self.ended:
                return
            self._news.clear()
            await self._news.wait()
