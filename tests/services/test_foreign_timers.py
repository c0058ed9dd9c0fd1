"""Code that knows asyncio's timers alone, under a virtual clock."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

import pytest

from services.clock import SystemClock, VirtualClock, foreign_timers, virtual_loop

pytestmark = pytest.mark.timeout(20)


def play(scene: Callable[[VirtualClock], Awaitable[None]]) -> float:
    """Run a scene of foreign code; return the virtual milliseconds that passed."""
    clock = VirtualClock()
    begun = clock.now_ms()

    async def run() -> None:
        clock.watch()
        with foreign_timers(clock):
            await scene(clock)

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(run())
    return clock.now_ms() - begun


def test_a_sleep_takes_virtual_time() -> None:
    async def scene(clock: VirtualClock) -> None:
        await asyncio.sleep(3600)

    assert play(scene) == 3_600_000


def test_a_timeout_ends_what_takes_longer() -> None:
    async def scene(clock: VirtualClock) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(20):
                await asyncio.Event().wait()

    assert play(scene) == 20_000


def test_a_timer_that_was_cancelled_moves_no_time() -> None:
    async def scene(clock: VirtualClock) -> None:
        async with asyncio.timeout(600):
            await asyncio.sleep(1)
        await asyncio.sleep(1)

    assert play(scene) == 2_000


def test_tasks_of_foreign_code_share_the_time() -> None:
    order: list[str] = []

    async def later(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        order.append(name)

    async def scene(clock: VirtualClock) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(later("second", 7))
            group.create_task(later("first", 5))

    assert play(scene) == 7_000
    assert order == ["first", "second"]


def test_time_stands_still_while_a_thread_works() -> None:
    go_on = threading.Event()

    def work() -> str:
        go_on.wait()
        return "done"

    async def scene(clock: VirtualClock) -> None:
        timer = asyncio.create_task(asyncio.sleep(5))
        thread = asyncio.create_task(asyncio.to_thread(work))
        asyncio.get_running_loop().call_soon(go_on.set)
        assert await thread == "done"
        assert not timer.done()
        await timer

    assert play(scene) == 5_000


def test_a_thread_that_waits_for_this_program_does_not_stop_the_time() -> None:
    async def scene(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()

        async def answer() -> str:
            with clock.no_real_work():
                await clock.sleep(1_000)
            return "answer"

        def ask() -> str:
            return asyncio.run_coroutine_threadsafe(answer(), loop).result()

        assert await asyncio.to_thread(ask) == "answer"

    assert play(scene) == 1_000


def test_a_connection_that_answers_comes_before_a_timer() -> None:
    async def scene(clock: VirtualClock) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server, asyncio.timeout(30):
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
            writer.close()

    assert play(scene) < 30_000


def test_code_outside_keeps_the_real_timers() -> None:
    clock = VirtualClock()

    async def scene() -> None:
        begun = asyncio.get_running_loop().time()
        assert abs(begun - time.monotonic()) < 60
        with foreign_timers(clock):
            assert asyncio.get_running_loop().time() == clock.now_ms() / 1000

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(scene())


async def test_under_the_machines_clock_nothing_changes() -> None:
    clock = SystemClock()

    with foreign_timers(clock), clock.no_real_work():
        await asyncio.sleep(0)
