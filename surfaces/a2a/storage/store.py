"""`TaskStore`: writes tasks beside the event loop, many at once, and says when they are safe.

A save only notes that a task has changed, and returns at once. A client gets an event after what it
says has been written, so a server that was killed knows all that its clients know.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar

from services.clock import Clock
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.saved import Change
from surfaces.a2a.storage.database import Database, DatabaseFailed, Page, Query
from surfaces.a2a.wire import RpcError

__all__ = ["TaskStore"]

T = TypeVar("T")
_MOST_TASKS: Final = 10_000
_OLDEST_MS: Final = 30 * 24 * 60 * 60 * 1000
_PRUNE_EVERY_MS: Final = 60 * 60 * 1000
_RETRY_MS: Final = 1000
_ATTEMPTS: Final = 3
"""After so many failures those who wait for a save get an error. The save is tried again."""


class TaskStore:
    """The tasks of one server.

    Args:
        database: where the tasks are.
        clock: the server's clock.
        warn: gets a message where the database fails.
    """

    def __init__(self, database: Database, clock: Clock, warn: Callable[[str], None]) -> None:
        self._database = database
        self._clock = clock
        self._warn = warn
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="a2a-tasks")
        self._changed: dict[str, TaskRecord] = {}
        self._unwritten: list[Change] = []
        self._news = asyncio.Event()
        self._number = 0
        self._written = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def open(self, kept: Callable[[], Collection[str]]) -> AsyncIterator[None]:
        """Write what is saved; leaving writes the rest and closes the database.

        Args:
            kept: the ids of the tasks that are in use. They are not deleted, however old.
        """
        writing = asyncio.create_task(self._write_changes(), name="A2A tasks")
        pruning = asyncio.create_task(self._prune_often(kept), name="A2A old tasks")
        try:
            yield
        finally:
            for each in (writing, pruning):
                each.cancel()
            await asyncio.wait([writing, pruning])
            await self._write_rest()
            await self._done(self._database.close)
            self._thread.shutdown(wait=False)

    def save(self, record: TaskRecord) -> int:
        """Note that a task has changed. `safe` returns when what it is now has been written."""
        self._changed[record.id] = record
        self._number += 1
        self._news.set()
        return self._number

    async def safe(self, number: int) -> None:
        """Return when everything up to the save with this number has been written.

        Raises:
            RpcError: the database cannot be written.
        """
        if number > self._written:
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((number, written))
            await written

    async def load(self, task_id: str) -> TaskRecord | None:
        """The task with this id.

        Raises:
            RpcError: the database cannot be read.
        """
        await self.safe(self._number)
        stored = await self._read(lambda: self._database.load(task_id))
        return None if stored is None else TaskRecord.of(stored)

    async def page(self, query: Query) -> Page:
        """The tasks that match.

        Raises:
            RpcError: the database cannot be read.
        """
        await self.safe(self._number)
        return await self._read(lambda: self._database.page(query))

    async def unfinished(self) -> list[TaskRecord]:
        """The tasks whose turn had not ended, or that waited for an approval.

        Raises:
            RpcError: the database cannot be read.
        """
        found = await self._loaded(self._database.unfinished)
        return [record for record in found if record.history or record.waiting]

    async def due(self) -> list[TaskRecord]:
        """The tasks for which a callback is due.

        Raises:
            RpcError: the database cannot be read.
        """
        return await self._loaded(self._database.due)

    async def _loaded(self, ids: Callable[[], list[str]]) -> list[TaskRecord]:
        await self.safe(self._number)
        found = [await self.load(task_id) for task_id in await self._read(ids)]
        return [record for record in found if record is not None]

    async def _write_changes(self) -> None:
        failures = 0
        while True:
            await self._news.wait()
            try:
                await self._write()
            except DatabaseFailed as error:
                failures += 1
                if failures == _ATTEMPTS:
                    self._warn(f"The tasks cannot be saved: {error}. Saving is tried again.")
                if failures >= _ATTEMPTS:
                    self._release(self._number, _not_saved(error))
                await self._clock.sleep(_RETRY_MS)
            else:
                failures = 0

    async def _write(self) -> None:
        """Write all that has changed.

        Raises:
            DatabaseFailed: it is not written, and will be with the next changes.
        """
        self._news.clear()
        number = self._number
        changed, self._changed = self._changed, {}
        now_ms = self._clock.now_ms()
        self._unwritten += [record.take_changes(now_ms) for record in changed.values()]
        batch = tuple(self._unwritten)
        try:
            await self._done(lambda: self._database.write(batch))
        except DatabaseFailed:
            self._news.set()
            raise
        self._unwritten = []
        self._written = number
        self._release(number, None)

    async def _write_rest(self) -> None:
        try:
            while self._news.is_set() or self._unwritten:
                await self._write()
        except DatabaseFailed as error:
            self._warn(f"The last changes of the tasks are not saved: {error}")
            self._release(self._number, _not_saved(error))

    def _release(self, number: int, error: RpcError | None) -> None:
        while self._waiting and self._waiting[0][0] <= number:
            _, written = self._waiting.popleft()
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)

    async def _prune_often(self, kept: Callable[[], Collection[str]]) -> None:
        while True:
            before_ms, used = self._clock.now_ms() - _OLDEST_MS, tuple(kept())
            try:
                await self._done(partial(self._database.prune, before_ms, _MOST_TASKS, used))
            except DatabaseFailed as error:
                self._warn(f"Old tasks cannot be deleted: {error}")
            await self._clock.sleep(_PRUNE_EVERY_MS)

    async def _read(self, work: Callable[[], T]) -> T:
        try:
            return await self._done(work)
        except DatabaseFailed as error:
            raise RpcError(-32603, f"The tasks cannot be read: {error}") from error

    async def _done(self, work: Callable[[], T]) -> T:
        with self._clock.real_work():
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _not_saved(error: DatabaseFailed) -> RpcError:
    return RpcError(-32603, f"The task cannot be saved: {error}")
