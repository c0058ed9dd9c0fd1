"""The moments at which a surface settles, its user acts, and the model goes on."""

from __future__ import annotations

import asyncio

from harness.replay.pace import Pace
from services.clock import VirtualClock, virtual_loop


def test_the_surface_settles_first_then_the_user_acts_then_the_model_answers() -> None:
    happened: list[str] = []
    unsettled = ["drawn", "laid out"]

    def settle() -> bool:
        if unsettled:
            happened.append(unsettled.pop())
            return True
        return False

    async def after(name: str, turn: object) -> None:
        await turn  # type: ignore[misc]  # any awaitable
        happened.append(name)

    async def play() -> None:
        clock = VirtualClock()
        pace = Pace(clock)
        with pace.kept_by(settle):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(after("later", clock.sleep(5)))
                tasks.create_task(after("chunk", pace.shown()))
                tasks.create_task(after("key", pace.until()))

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(play())

    assert happened == ["laid out", "drawn", "key", "chunk", "later"]


def test_a_user_who_waits_for_what_never_holds_stops_nothing() -> None:
    async def play() -> None:
        clock = VirtualClock()
        pace = Pace(clock)
        with pace.kept_by(lambda: False):
            waiting = asyncio.create_task(pace.until(lambda: False))
            await clock.sleep(5)
            await pace.shown()
            assert not waiting.done()
            waiting.cancel()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(play())


def test_without_a_surface_nothing_waits() -> None:
    asyncio.run(Pace(VirtualClock()).shown())
