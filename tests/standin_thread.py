"""The stand-in for the API beside a test whose subject runs an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from harness.http.standin import StandIn, open_standin


@contextmanager
def standin_thread(steps: Sequence[Mapping[str, Any]]) -> Iterator[StandIn]:
    """Serve `steps` on a loop in a thread; leaving ends both."""
    loop, ready, done = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    held: list[StandIn] = []

    async def serve() -> None:
        async with open_standin(steps) as standin:
            held.append(standin)
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield held[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()
