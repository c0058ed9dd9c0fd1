"""A conversation that begins anew has nothing left of what was said to the one before."""

from __future__ import annotations

from typing import Any

from services.steering import InjectionSource


def test_a_reset_forgets_what_was_said(nursery: Any) -> None:
    async def script(room: Any) -> None:
        steering = room.services.steering
        steering.add("done", InjectionSource.BACKGROUND_COMPLETION)
        assert steering.latest == 0
        await room.runtime.reset()
        assert steering.latest == -1

    nursery.run(script)
