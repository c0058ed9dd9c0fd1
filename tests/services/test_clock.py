import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.abort import AbortController, AbortError, until_aborted
from services.clock import (
    VIRTUAL_EPOCH_MS,
    SystemClock,
    VirtualClock,
    iso_timestamp,
    sleep_or_abort,
    virtual_loop,
)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await main()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(whole())


def test_sleepers_wake_in_order_of_their_due_times() -> None:
    clock = VirtualClock()
    woken: list[tuple[str, int]] = []

    async def sleeper(name: str, delay_ms: float) -> None:
        await clock.sleep(delay_ms)
        woken.append((name, clock.now_ms() - VIRTUAL_EPOCH_MS))

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper("long", 30_000))
            group.create_task(sleeper("short", 60))
            group.create_task(sleeper("tie", 60))

    run(main)

    assert woken == [("short", 60), ("tie", 60), ("long", 30_000)]


def test_before_waking_can_start_work_instead_of_moving_time() -> None:
    clock = VirtualClock(0)
    order: list[tuple[str, int]] = []

    async def main() -> None:
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def let_go() -> bool:
            if held.done():
                return False
            held.set_result(None)
            return True

        async def waits() -> None:
            await held
            order.append(("held", clock.now_ms()))

        async def sleeps() -> None:
            await clock.sleep(1)
            order.append(("slept", clock.now_ms()))

        clock.before_waking = let_go
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeps())
            group.create_task(waits())

    run(main)

    assert order == [("held", 0), ("slept", 1)]


def test_real_work_holds_virtual_time() -> None:
    clock = VirtualClock()
    order: list[str] = []

    async def real() -> None:
        with clock.real_work():
            reader = await asyncio.create_subprocess_exec("true")
            await reader.wait()
        order.append("real")

    async def virtual() -> None:
        await clock.sleep(1)
        order.append("virtual")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(virtual())
            group.create_task(real())

    run(main)

    assert order == ["real", "virtual"]


def test_on_stall_is_called_at_once_where_a_run_can_never_go_on() -> None:
    stalled: list[bool] = []

    async def main() -> None:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def note() -> None:
            stalled.append(True)
            never.set_result(None)

        clock = VirtualClock(on_stall=note)
        clock.watch()
        await never

    run(main)

    assert stalled == [True]


def test_a_cancelled_sleeper_does_not_hold_up_the_others() -> None:
    clock = VirtualClock()

    async def main() -> None:
        task = asyncio.get_running_loop().create_task(clock.sleep(5))
        await asyncio.sleep(0)
        task.cancel()
        await clock.sleep(10)

    run(main)

    assert clock.now_ms() == VIRTUAL_EPOCH_MS + 10


def test_abort_ends_a_virtual_wait_at_its_own_time() -> None:
    clock = VirtualClock()
    controller = AbortController()

    async def abort_later() -> None:
        await clock.sleep(60)
        controller.abort("enough")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(abort_later())
            with pytest.raises(AbortError):
                await sleep_or_abort(clock, 5_000, controller.signal)

    run(main)

    assert clock.now_ms() == VIRTUAL_EPOCH_MS + 60
    assert controller.signal.reason == "enough"


def test_virtual_sleep_outside_a_virtual_loop_is_refused() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match="virtual_loop"):
            await VirtualClock().sleep(1)

    asyncio.run(main())


async def test_until_aborted_awaits_the_cancelled_work() -> None:
    controller = AbortController()
    cleaned: list[bool] = []

    async def work() -> None:
        controller.abort()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cleaned.append(True)

    with pytest.raises(AbortError):
        await until_aborted(work(), controller.signal)

    assert cleaned == [True]


async def test_until_aborted_passes_results_and_errors_through() -> None:
    signal = AbortController().signal

    async def answer() -> int:
        return 3

    async def fail() -> None:
        raise ValueError("no")

    assert await until_aborted(answer(), signal) == 3
    with pytest.raises(ValueError, match="no"):
        await until_aborted(fail(), signal)


def test_timestamps_have_milliseconds_and_z() -> None:
    assert iso_timestamp(VIRTUAL_EPOCH_MS + 7) == "2026-01-01T00:00:00.007Z"


def test_system_clock_moves() -> None:
    assert SystemClock().now_ms() > VIRTUAL_EPOCH_MS - 10**12
