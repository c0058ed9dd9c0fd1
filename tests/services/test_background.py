import asyncio
import inspect

import pytest

from services.background import background_tasks


async def test_work_begins_after_the_caller_has_gone_on() -> None:
    order: list[str] = []

    async def work() -> None:
        order.append("work")

    async with background_tasks() as tasks:
        tasks.start(work(), name="w")
        order.append("caller")
        await tasks.settled()

    assert order == ["caller", "work"]


async def test_settling_waits_for_what_is_started_meanwhile() -> None:
    done: list[str] = []

    async with background_tasks() as tasks:

        async def second() -> None:
            done.append("second")

        async def first() -> None:
            tasks.start(second(), name="second")
            done.append("first")

        tasks.start(first(), name="first")
        await tasks.settled()

        assert done == ["first", "second"]


async def test_work_that_does_not_end_is_cancelled_and_awaited() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("cancelled")

    async with background_tasks() as tasks:
        tasks.start(forever(), name="w")
        await asyncio.sleep(0)
        await tasks.end(grace_s=0)

        assert ended == ["cancelled"]


async def test_the_bodys_exception_is_not_wrapped() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with background_tasks():
            raise KeyError("mine")


@pytest.mark.filterwarnings("error")
async def test_work_that_comes_after_the_end_is_refused_and_never_begun() -> None:
    async def work() -> None:
        raise AssertionError

    async with background_tasks() as tasks:
        pass
    late = work()
    with pytest.raises(RuntimeError, match="finished"):
        tasks.start(late, name="w")
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED
