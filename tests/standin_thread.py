"""Stand-ins beside a test whose subject runs an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Any, TypeVar

from harness.http.standin import StandIn, open_standin

T = TypeVar("T")


def standin_thread(
    steps: Sequence[Mapping[str, Any]],
) -> AbstractContextManager[StandIn]:
    """Serve `steps` as the API on a loop in a thread; leaving ends both."""
    return in_thread(lambda: open_standin(steps))


@contextmanager
def in_thread(opened: Callable[[], AbstractAsyncContextManager[T]]) -> Iterator[T]:
    """Hold a stand-in open on a loop in a thread; leaving ends both."""
    loop, ready, done = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    held: list[T] = []

    async def serve() -> None:
        async with opened() as standin:
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
