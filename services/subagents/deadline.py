"""`RunTime`: a child's remaining time, which pauses while the user is asked.

Source: core `utils/deadlineTimer.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Self

from services.abort import AbortController, AbortSignal
from services.clock import Clock

__all__ = ["DeadlineTimer", "RunTime", "either_aborted"]


class DeadlineTimer:
    """Aborts its signal when the time is up. Entering it starts it.

    Leaving stops it without an abort and awaits its tasks.
    """

    def __init__(self, clock: Clock, ms: float, reason: str = "Agent timed out.") -> None:
        """Make a timer of `ms` milliseconds."""
        self._clock = clock
        self._left_ms = ms
        self._reason = reason
        self._controller = AbortController()
        self._started_ms = 0
        self._task: asyncio.Task[None] | None = None
        self._ended: set[asyncio.Task[None]] = set()

    @property
    def signal(self) -> AbortSignal:
        """Aborted when the time is up."""
        return self._controller.signal

    def pause(self) -> None:
        """Pause; a second pause changes nothing."""
        if self._task is None or self.signal.aborted:
            return
        elapsed = self._clock.now_ms() - self._started_ms
        self._left_ms = max(0, self._left_ms - elapsed)
        self._stop()

    def resume(self) -> None:
        """Go on with the rest of the time, after any number of pauses."""
        if self._task is None and not self.signal.aborted:
            self._start()

    async def __aenter__(self) -> Self:
        """Start."""
        self._start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and await the tasks."""
        self._stop()
        if self._ended:
            await asyncio.wait(self._ended)

    def _start(self) -> None:
        self._started_ms = self._clock.now_ms()
        self._task = asyncio.get_running_loop().create_task(
            self._run(self._started_ms + self._left_ms)
        )

    def _stop(self) -> None:
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
            self._ended.add(task)
            task.add_done_callback(self._ended.discard)

    async def _run(self, due_ms: float) -> None:
        # The time before this task begins counts.
        await self._clock.sleep(due_ms - self._clock.now_ms())
        self._controller.abort(self._reason)


class RunTime:
    """The time of a run, and of the grace period for submitting a result."""

    def __init__(self, clock: Clock, ms: float) -> None:
        """Each run has `ms` milliseconds."""
        self._clock = clock
        self._ms = ms
        self._deadline = self._timer = DeadlineTimer(clock, ms)

    @property
    def signal(self) -> AbortSignal:
        """Aborted when the time of the run or of its grace period is up."""
        return self._timer.signal

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Time one run; leaving stops the timer and awaits its tasks."""
        self._deadline = self._timer = DeadlineTimer(self._clock, self._ms)
        async with self._deadline:
            yield

    @asynccontextmanager
    async def grace(self, ms: float) -> AsyncIterator[None]:
        """Time a grace period of `ms` milliseconds instead of the run."""
        async with DeadlineTimer(self._clock, ms) as self._timer:
            try:
                yield
            finally:
                self._timer = self._deadline

    def waiting(self, waits: bool) -> None:
        """Pause the run's time while the user is asked; a grace period goes on."""
        if waits:
            self._deadline.pause()
        else:
            self._deadline.resume()


@contextmanager
def either_aborted(*signals: AbortSignal) -> Iterator[AbortSignal]:
    """Yield a signal that is aborted with the first of `signals`."""
    controller = AbortController()
    offs = [signal.on_abort(controller.abort) for signal in signals]
    try:
        yield controller.signal
    finally:
        for off in offs:
            off()
