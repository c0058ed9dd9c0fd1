"""`ModelClock`: a run's clock that knows which answers of the model are on their way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.clock import VirtualClock

__all__ = ["ModelClock"]


class ModelClock(VirtualClock):
    """The clock of a run's model: it knows when the answers that are on their way arrive."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        self._due: list[float] = []

    @property
    def next_due_ms(self) -> float | None:
        """When the next answer arrives; `None` if none is on its way."""
        return min(self._due, default=None)

    def now_ms(self) -> int:
        """The run's time."""
        return self._clock.now_ms()

    def advance(self, delta_ms: float) -> None:
        """Advance the run's time."""
        self._clock.advance(delta_ms)

    async def sleep(self, delay_ms: float) -> None:
        """Wait in the run's time."""
        due = self._clock.now_ms() + delay_ms
        self._due.append(due)
        try:
            await self._clock.sleep(delay_ms)
        finally:
            self._due.remove(due)

    @contextmanager
    def real_work(self) -> Iterator[None]:
        """Hold the run's time."""
        with self._clock.real_work():
            yield

    @contextmanager
    def no_real_work(self) -> Iterator[None]:
        """Let the run's time pass."""
        with self._clock.no_real_work():
            yield
