"""The background tasks of one engine: owned by a `TaskGroup`, awaitable as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

__all__ = ["BackgroundTasks", "background_tasks"]


class BackgroundTasks:
    """Starts tasks in a group that the caller holds open, and knows which still run."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._running: set[asyncio.Task[None]] = set()

    def start(
        self,
        work: Coroutine[Any, Any, None],
        *,
        name: str,
        unbegun: Callable[[], None] | None = None,
    ) -> None:
        """Run `work` from the next loop tick on, never before the caller has gone on.

        Args:
            work: what to do.
            name: the task's.
            unbegun: called where the task was cancelled before its first step, so that `work` has
                not run at all.

        Raises:
            RuntimeError: the group has ended; `work` is never begun.
        """
        begun = False

        async def run() -> None:
            nonlocal begun
            begun = True
            await work

        def over(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            if not begun:
                work.close()
                if unbegun is not None:
                    unbegun()

        running = run()
        try:
            task = self._group.create_task(running, name=name)
        except RuntimeError:
            running.close()
            work.close()
            raise
        self._running.add(task)
        task.add_done_callback(over)

    async def settled(self) -> None:
        """Return when nothing runs any more, whatever was started meanwhile included."""
        while self._running:
            await asyncio.wait(list(self._running))

    async def end(self, grace_s: float) -> None:
        """Give what runs `grace_s` real seconds to end by itself, then cancel and await it."""
        if self._running:
            await asyncio.wait(list(self._running), timeout=grace_s)
        for task in list(self._running):
            task.cancel()
        await self.settled()


@asynccontextmanager
async def background_tasks() -> AsyncIterator[BackgroundTasks]:
    """Hold a `TaskGroup` open; leaving waits for what still runs.

    An exception of the body is raised as it is, not inside an exception group.
    """
    failure: Exception | None = None
    async with asyncio.TaskGroup() as group:
        try:
            yield BackgroundTasks(group)
        except Exception as error:  # noqa: BLE001 - raised again below
            failure = error
    if failure is not None:
        raise failure
