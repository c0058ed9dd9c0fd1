"""`Held`: the virtual time of a session while another program answers a message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from services.clock import Clock

__all__ = ["Held"]


class Held:
    """Virtual time stands still while the program works, and passes while it waits for a model."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._messages = 0
        self._waits = 0
        self._free = ExitStack()

    @contextmanager
    def message(self) -> Iterator[None]:
        """Mark the span in which the program answers a message."""
        self._messages += 1
        try:
            with self._clock.real_work():
                yield
        finally:
            self._messages -= 1

    @contextmanager
    def model(self) -> Iterator[None]:
        """Mark a span in which the program waits for an answer of the model."""
        if self._messages == 1 and self._waits == 0:
            self._free.enter_context(self._clock.no_real_work())
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0:
                self._free.close()
