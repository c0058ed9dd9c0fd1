"""The store: what is safe when, and a database that fails."""

import asyncio
from collections.abc import Collection, Sequence

import pytest

from services.clock import VirtualClock, virtual_loop
from surfaces.a2a.listeners import Listener
from surfaces.a2a.saved import Change, Stored
from surfaces.a2a.storage.database import DatabaseFailed, Page, Query
from surfaces.a2a.storage.store import TaskStore
from surfaces.a2a.wire import RpcError
from tests.surfaces.a2a.storage.test_database import record, said


class Memory:
    """A database in memory, which fails when asked to."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Change]] = {}
        self.writes = 0
        self.failing = 0
        self.closed = False
        self.pruned: list[Collection[str]] = []

    def write(self, changes: Sequence[Change]) -> None:
        if self.failing:
            self.failing -= 1
            raise DatabaseFailed("the disk is full")
        self.writes += 1
        for each in changes:
            self.rows.setdefault(each.task_id, []).append(each)

    def load(self, task_id: str) -> Stored | None:
        rows = self.rows.get(task_id)
        if rows is None:
            return None
        last = rows[-1]
        messages = tuple(document for row in rows for _, document in row.messages)
        return Stored(
            head=last.head,
            waiting=last.waiting,
            callbacks=last.callbacks,
            first=last.first,
            messages=messages,
            artifacts=(),
        )

    def unfinished(self) -> list[str]:
        return list(self.rows)

    def due(self) -> list[str]:
        return []

    def page(self, query: Query) -> Page:
        raise DatabaseFailed("the disk is gone")

    def prune(self, before_ms: int, most: int, kept: Collection[str]) -> None:
        self.pruned.append(kept)

    def close(self) -> None:
        self.closed = True


class Stage:
    """A store over a database in memory."""

    def __init__(self) -> None:
        self.database = Memory()
        self.warnings: list[str] = []
        self.clock = VirtualClock()
        self.store = TaskStore(self.database, self.clock, self.warnings.append)


async def test_saves_of_one_moment_are_one_write() -> None:
    stage = Stage()
    async with stage.store.open(tuple):
        numbers = [stage.store.save(record(name)) for name in ("a", "b", "a2")]
        await stage.store.safe(numbers[-1])

        assert stage.database.writes == 1
        assert set(stage.database.rows) == {"a", "b", "a2"}
    assert stage.database.closed


async def test_what_is_saved_last_is_written_at_the_end() -> None:
    stage = Stage()
    async with stage.store.open(tuple):
        stage.store.save(record("a"))

    assert set(stage.database.rows) == {"a"}


async def test_a_load_sees_what_is_not_written_yet() -> None:
    stage = Stage()
    task = record("a")
    async with stage.store.open(tuple):
        task.said(said("1", "one"))
        stage.store.save(task)
        found = await stage.store.load("a")

        assert found is not None
        assert found.history == task.history


async def test_a_client_gets_an_event_when_it_is_written() -> None:
    stage = Stage()
    listener = Listener(stage.store.safe)
    task = record("a")
    listener.add({"kind": "status-update", "final": True}, stage.store.save(task))
    got: list[object] = []

    async def read() -> None:
        got.extend([each async for each in listener.events()])

    reading = asyncio.create_task(read())
    for _ in range(10):
        await asyncio.sleep(0)
    assert got == []
    async with stage.store.open(tuple):
        await reading
    assert len(got) == 1


def test_a_failed_write_is_repeated_and_loses_nothing() -> None:
    async def work() -> None:
        stage = Stage()
        stage.database.failing = 2
        task = record("a")
        async with stage.store.open(tuple):
            task.said(said("1", "one"))
            stage.store.save(task)
            await stage.clock.sleep(10)
            task.said(said("2", "two"))
            await stage.store.safe(stage.store.save(task))
            found = await stage.store.load("a")

        assert found is not None
        assert [each["messageId"] for each in found.history] == ["1", "2"]
        assert stage.warnings == []

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(work())


def test_those_who_wait_learn_that_the_disk_is_full() -> None:
    async def work() -> None:
        stage = Stage()
        stage.database.failing = 4
        async with stage.store.open(tuple):
            with pytest.raises(RpcError, match="the disk is full") as caught:
                await stage.store.safe(stage.store.save(record("a")))
            assert caught.value.code == -32603
            assert "tried again" in stage.warnings[0]
            # The fifth attempt succeeds.
            await stage.clock.sleep(5000)
            await stage.store.safe(1)
            assert set(stage.database.rows) == {"a"}

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(work())


async def test_a_read_that_fails_is_an_error_of_the_request() -> None:
    stage = Stage()
    async with stage.store.open(tuple):
        with pytest.raises(RpcError, match="the disk is gone"):
            await stage.store.page(Query())


def test_old_tasks_are_deleted_each_hour_but_none_in_use() -> None:
    async def work() -> None:
        stage = Stage()
        used = ["a"]
        async with stage.store.open(lambda: used):
            await stage.clock.sleep(100)
            used.append("b")
            await stage.clock.sleep(3_600_100)

        assert stage.database.pruned == [("a",), ("a", "b")]

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(work())
