"""Time as a seam: `SystemClock` for the product, `VirtualClock` for replays and tests.

Virtual time stands still while real work is going on (a child process, a thread, a socket: what
runs inside `real_work()`). It jumps to the next waiter when the event loop has nothing left to do,
so a ten-attempt backoff takes no real time. The loop's selector (`virtual_loop`) makes the jump: it
alone knows that nothing is ready.

Code that does not know this seam uses asyncio's own timers (`asyncio.sleep`, `asyncio.timeout`) and
threads. Inside `foreign_timers(clock)` these timers are virtual, too, and time stands still while
such a thread works.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context, ContextVar
from datetime import UTC, datetime
from typing import Any, Protocol

from services.abort import AbortSignal, until_aborted

__all__ = [
    "VIRTUAL_EPOCH_MS",
    "Clock",
    "SystemClock",
    "VirtualClock",
    "foreign_clock",
    "foreign_timers",
    "iso_timestamp",
    "sleep_or_abort",
    "sleep_until_or_abort",
    "virtual_loop",
]

VIRTUAL_EPOCH_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z, where a `VirtualClock` starts by default."""


class Clock(Protocol):
    """The current time, and waiting."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        ...

    async def sleep(self, delay_ms: float) -> None:
        """Return after `delay_ms` milliseconds; at the next loop tick for 0 or less."""
        ...

    def real_work(self) -> AbstractContextManager[None]:
        """Mark a span that waits for something outside the program; virtual time holds still."""
        ...

    def no_real_work(self) -> AbstractContextManager[None]:
        """Mark a span in which what a `real_work` waits for itself waits for this program."""
        ...


def iso_timestamp(epoch_ms: int) -> str:
    """Return `epoch_ms` as ISO 8601, UTC, milliseconds, `Z`: the wire's only time format."""
    moment = datetime.fromtimestamp(epoch_ms // 1000, UTC)
    # isoformat takes half the time of strftime, and every event and recorded line takes one.
    return f"{moment.isoformat()[:19]}.{epoch_ms % 1000:03d}Z"


async def sleep_or_abort(clock: Clock, delay_ms: float, signal: AbortSignal) -> None:
    """Sleep, or raise `AbortError` as soon as `signal` is aborted."""
    await until_aborted(clock.sleep(delay_ms), signal)


async def sleep_until_or_abort(clock: Clock, due_ms: float, signal: AbortSignal) -> None:
    """Sleep until a date, or raise `AbortError` as soon as `signal` is aborted.

    Whatever moves the clock before the sleep has begun shortens the sleep.
    """

    async def sleep() -> None:
        await clock.sleep(due_ms - clock.now_ms())

    await until_aborted(sleep(), signal)


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return time.time_ns() // 1_000_000

    async def sleep(self, delay_ms: float) -> None:
        """Sleep for real."""
        await asyncio.sleep(max(0.0, delay_ms) / 1000)

    @contextmanager
    def real_work(self) -> Iterator[None]:
        """Do nothing: all time is real."""
        yield

    no_real_work = real_work


class VirtualClock:
    """A clock that moves by `advance`, and when its loop has nothing left to do.

    Use it inside a loop made by `virtual_loop`; it joins the loop at the first `sleep`. `on_stall`
    is called once when the loop is idle, no task waits for virtual time and no real work is going
    on: the run can never go on by itself. `before_waking` is called before virtual time would move;
    True means that it started something, and time stands still.
    """

    def __init__(
        self, start_ms: int = VIRTUAL_EPOCH_MS, *, on_stall: Callable[[], None] | None = None
    ) -> None:
        self._now_ms = float(start_ms)
        self._waiters: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = 0
        self._real = 0
        self._real_since_ns = 0
        self.advanced_while_held: list[tuple[float, float]] = []
        """When `advance` moved time while something real was going on, and by how much. How long
        the real work took decides whether what follows it comes after that."""
        self.on_stall = on_stall
        self.before_waking: Callable[[], bool] | None = None

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, in virtual time."""
        return int(self._now_ms)

    @property
    def exact_ms(self) -> float:
        """The time of `now_ms` with its fraction."""
        return self._now_ms

    def advance(self, delta_ms: float) -> None:
        """Move time on by `delta_ms`. Waiting tasks wake when the loop is idle."""
        if self._real:
            self.advanced_while_held.append((self._now_ms, delta_ms))
        self._now_ms += delta_ms

    async def sleep(self, delay_ms: float) -> None:
        """Return when virtual time has passed by `delay_ms`; ties wake in order of arrival."""
        if delay_ms <= 0:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        if not isinstance(loop, _VirtualLoop):
            raise RuntimeError("VirtualClock sleeps only in a loop made by virtual_loop()")
        loop.clocks.add(self)
        woken: asyncio.Future[None] = loop.create_future()
        self._order += 1
        heapq.heappush(self._waiters, (self._now_ms + delay_ms, self._order, woken))
        await woken

    @contextmanager
    def real_work(self) -> Iterator[None]:
        """Hold virtual time while something real is going on."""
        if not self._real:
            self._real_since_ns = time.monotonic_ns()
        self._real += 1
        try:
            yield
        finally:
            self._real -= 1

    @contextmanager
    def no_real_work(self) -> Iterator[None]:
        """Let virtual time pass although one real work is going on: it waits for this program."""
        self._real -= 1
        try:
            yield
        finally:
            self._real += 1

    @contextmanager
    def timers(self) -> Iterator[None]:
        """See `foreign_timers`."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _VirtualLoop)
        token = _TIMERS.set(self)
        loop.foreign += 1
        try:
            yield
        finally:
            loop.foreign -= 1
            _TIMERS.reset(token)

    def call_at(self, timer: _Timer) -> None:
        """Run a timer of asyncio when its time has come; `when` counts seconds of this clock."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _VirtualLoop)
        loop.clocks.add(self)
        self._order += 1
        heapq.heappush(self._waiters, (timer.when() * 1000, self._order, timer.woken))

    @property
    def held(self) -> bool:
        """True while something real is going on."""
        return self._real > 0

    @property
    def held_for_ms(self) -> float:
        """For how long, in real milliseconds, something real has been going on without a break."""
        return (time.monotonic_ns() - self._real_since_ns) / 1e6 if self._real else 0.0

    def wake_next(self) -> bool:
        """Jump to the earliest waiter and wake it; called by the loop. False without a waiter."""
        if self.before_waking is not None and self.before_waking():
            return True
        while self._waiters:
            due, _, woken = heapq.heappop(self._waiters)
            if woken.done():
                continue
            self._now_ms = max(self._now_ms, due)
            woken.set_result(None)
            return True
        return False

    def watch(self) -> None:
        """Let the running loop see this clock before the first sleep (for stall detection)."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, _VirtualLoop):
            loop.clocks.add(self)

    def unwatch(self) -> None:
        """Take this clock out of the running loop; its run is over."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, _VirtualLoop):
            loop.clocks.discard(self)


_TIMERS: ContextVar[VirtualClock | None] = ContextVar("foreign_timers", default=None)
_OWN_FILES = 1
"""The files that an idle loop watches: the end of a pipe to itself."""
_PATIENCE_S = 0.25
"""Real seconds for which a connection of foreign code may be silent before time moves."""


class _Timer(asyncio.TimerHandle):
    """A timer of asyncio that waits for virtual time."""

    woken: asyncio.Future[None]

    def begin(self) -> None:
        """Wait for the time to come."""
        self.woken = asyncio.get_running_loop().create_future()
        self.woken.add_done_callback(self._ring, context=Context())

    def _ring(self, woken: asyncio.Future[None]) -> None:
        if not woken.cancelled() and not self.cancelled():
            self._run()

    def cancel(self) -> None:
        self.woken.cancel()
        super().cancel()


class _IdleSelector(selectors.DefaultSelector):
    """Asks its loop to move virtual time before it would wait for real."""

    loop: _VirtualLoop | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return super().select(timeout)
        connected = self.loop is not None and self.loop.foreign and len(self.get_map()) > _OWN_FILES
        ready = super().select(_PATIENCE_S if connected else 0)
        if ready or (self.loop is not None and self.loop.advance_clocks()):
            return ready
        return super().select(timeout)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        selector = _IdleSelector()
        super().__init__(selector)
        selector.loop = self
        self.clocks: set[VirtualClock] = set()
        self.foreign = 0
        """How many spans of foreign code are open."""

    def time(self) -> float:
        """Seconds: real ones, or for foreign code those of its clock."""
        clock = _TIMERS.get()
        return super().time() if clock is None else clock.exact_ms / 1000

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call `callback` at a time of `time()`."""
        clock = _TIMERS.get()
        if clock is None:
            return super().call_at(when, callback, *args, context=context)
        timer = _Timer(when, callback, args, self, context)
        timer.begin()
        clock.call_at(timer)
        return timer

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Call a function in a thread; for foreign code, time stands still meanwhile."""
        found = super().run_in_executor(executor, func, *args)
        clock = _TIMERS.get()
        if clock is not None:
            work = clock.real_work()
            work.__enter__()
            found.add_done_callback(lambda _: work.__exit__(None, None, None))
        return found

    def advance_clocks(self) -> bool:
        """Wake the next waiter of every clock that nothing real holds; True when one moved."""
        moved = False
        free = [clock for clock in self.clocks if not clock.held]
        for clock in free:
            moved = clock.wake_next() or moved
        if moved or len(free) < len(self.clocks):
            return moved
        for clock in free:
            stalled, clock.on_stall = clock.on_stall, None
            if stalled is not None:
                self.call_soon(stalled)
                moved = True
        return moved


def foreign_timers(clock: Clock) -> AbstractContextManager[None]:
    """Make asyncio's timers virtual for the code inside, and for the tasks that it starts.

    They stay real where the clock is.
    """
    return clock.timers() if isinstance(clock, VirtualClock) else nullcontext()


def foreign_clock() -> VirtualClock | None:
    """Return the clock whose timers the running code has: `None` outside of `foreign_timers`."""
    return _TIMERS.get()


def virtual_loop() -> Any:
    """Make an event loop for `VirtualClock`s; a `loop_factory` for `asyncio.Runner`."""
    return _VirtualLoop()
