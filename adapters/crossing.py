"""`Crossing`: iterates an asynchronous generator in a task and a context of its own.

A user's agent and the harness run in one event loop. The agent's context has its clock and its
model (`adapters.model.transports`), which must not affect the harness. So each side iterates the
other's generators through a crossing: an item is asked for and handed over, one at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager, aclosing, nullcontext
from contextvars import Context
from typing import Any, Generic, TypeVar

__all__ = ["Crossing"]

T = TypeVar("T")


class Crossing(Generic[T]):
    """Iterates `source` elsewhere. Leaving the block cancels what it waits for, and closes it.

    Args:
        source: What to iterate.
        context: The context of the task; by default a copy of the caller's.
        around: Entered in that task, around the whole iteration.
    """

    def __init__(
        self,
        source: AsyncGenerator[T, None],
        *,
        context: Context | None = None,
        around: AbstractContextManager[object] | None = None,
    ) -> None:
        self._source = source
        self._context = context
        self._around = around or nullcontext()
        self._asked = asyncio.Event()
        self._answer: asyncio.Future[tuple[T] | None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Crossing[T]:
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._iterate(), context=self._context)
        return self

    async def __aexit__(self, *ending: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the iteration, and return when the source is closed.

        Raises:
            Exception: what the source raises while it is closed.
        """
        self.cancel()
        if self._task is not None:
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.result()

    def cancel(self) -> None:
        """Ask the source to end where it is, without waiting for it."""
        if self._task is not None:
            self._task.cancel()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        """Return the next item.

        Raises:
            StopAsyncIteration: there is none.
            Exception: what the source raises.
            asyncio.CancelledError: the source was cancelled.
        """
        assert self._task is not None, "a crossing is entered before it is iterated"
        if self._task.done():
            raise StopAsyncIteration
        answer: asyncio.Future[tuple[T] | None] = asyncio.get_running_loop().create_future()
        self._answer = answer
        self._asked.set()
        # The task may end without an answer: cancelled before its first step, for example.
        either: list[asyncio.Future[Any]] = [answer, self._task]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise asyncio.CancelledError
        found = answer.result()
        if found is None:
            raise StopAsyncIteration
        return found[0]

    async def _iterate(self) -> None:
        with self._around:
            async with aclosing(self._source):
                while await self._step():
                    pass

    async def _step(self) -> bool:
        """Hand over one item, or the end, when it is asked for; return whether there is more."""
        await self._asked.wait()
        self._asked.clear()
        assert self._answer is not None
        try:
            self._answer.set_result((await anext(self._source),))
        except StopAsyncIteration:
            self._answer.set_result(None)
            return False
        except asyncio.CancelledError:
            self._answer.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - raised where the item was asked for
            self._answer.set_exception(error)
            return False
        return True
