"""`Outbox`: the updates of one session, sent in the order in which they were added."""

from __future__ import annotations

import asyncio
import contextlib

from services.wire import JsonObject
from surfaces.acp.client import Client

__all__ = ["Outbox", "text_chunk"]


class Outbox:
    """Updates are added at once, from event handlers, and sent by `run`."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self.session_id = session_id
        self._queue: asyncio.Queue[JsonObject] = asyncio.Queue()

    def add(self, update: JsonObject) -> None:
        """Send `update` after those that were added before."""
        self._queue.put_nowait(update)

    async def sent(self) -> None:
        """Return when everything that was added is sent."""
        await self._queue.join()

    async def run(self) -> None:
        """Send for ever. What a client that has gone would get is dropped."""
        while True:
            update = await self._queue.get()
            try:
                with contextlib.suppress(ConnectionError):
                    await self._client.update(self.session_id, update)
            finally:
                self._queue.task_done()


def text_chunk(kind: str, text: str) -> JsonObject:
    """The update `kind` with one text."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
