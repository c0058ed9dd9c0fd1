from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from services.abort import AbortController
from services.clock import VirtualClock, virtual_loop
from services.subagents.deadline import DeadlineTimer, either_aborted


def timed(work: Callable[[VirtualClock, DeadlineTimer], Awaitable[None]], ms: float = 100) -> None:
    """Run `work` in virtual time, with a timer that has just begun."""

    async def run() -> None:
        clock = VirtualClock()
        async with DeadlineTimer(clock, ms) as timer:
            await work(clock, timer)

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(run())


def test_it_aborts_when_the_time_is_up() -> None:
    async def work(clock: VirtualClock, timer: DeadlineTimer) -> None:
        await clock.sleep(99)
        assert not timer.signal.aborted
        await clock.sleep(2)
        assert timer.signal.aborted
        assert timer.signal.reason == "Agent timed out."

    timed(work)


def test_a_pause_keeps_the_remaining_time() -> None:
    async def work(clock: VirtualClock, timer: DeadlineTimer) -> None:
        await clock.sleep(60)
        timer.pause()
        await clock.sleep(1000)
        timer.resume()
        await clock.sleep(39)
        assert not timer.signal.aborted
        await clock.sleep(2)
        assert timer.signal.aborted

    timed(work)


def test_a_second_pause_changes_nothing_and_the_first_resume_counts() -> None:
    async def work(clock: VirtualClock, timer: DeadlineTimer) -> None:
        timer.pause()
        await clock.sleep(10)
        timer.pause()
        timer.resume()
        await clock.sleep(99)
        assert not timer.signal.aborted
        timer.resume()
        await clock.sleep(2)
        assert timer.signal.aborted

    timed(work)


def test_once_up_it_stays_up() -> None:
    async def work(clock: VirtualClock, timer: DeadlineTimer) -> None:
        await clock.sleep(200)
        timer.pause()
        timer.resume()
        assert timer.signal.aborted

    timed(work)


def test_leaving_stops_it_and_leaves_no_task() -> None:
    async def run() -> None:
        clock = VirtualClock()
        async with DeadlineTimer(clock, 100) as timer:
            timer.pause()
            timer.resume()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await clock.sleep(1000)
        assert not timer.signal.aborted

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(run())


def test_either_of_two_signals_is_enough() -> None:
    one, other = AbortController(), AbortController()
    with either_aborted(one.signal, other.signal) as signal:
        assert not signal.aborted
        other.abort()
        assert signal.aborted


def test_a_combined_signal_is_not_aborted_after_its_block() -> None:
    one = AbortController()
    with either_aborted(one.signal) as signal:
        pass
    one.abort()
    assert not signal.aborted


def test_an_already_aborted_signal_counts() -> None:
    one = AbortController()
    one.abort()
    with either_aborted(AbortController().signal, one.signal) as signal:
        assert signal.aborted
