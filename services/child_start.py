"""Starting a child process so that nothing of it is left behind when the start is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["started_whole"]

P = TypeVar("P")


async def started_whole(spawn: Coroutine[Any, Any, P], end: Callable[[P], Awaitable[object]]) -> P:
    """Await `spawn`; where that is cancelled in between, let it finish and `end` what it started.

    The child may be at work before the loop has seen to its pipes. Cancelled there, the loop would
    kill the child alone and leave what the child has started.

    Raises:
        Whatever `spawn` raises.
    """
    starting = asyncio.get_running_loop().create_task(spawn)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])
        if not starting.cancelled() and starting.exception() is None:
            await end(starting.result())
        raise
