"""Shows the output of a running command: the first piece at once, then at most once a second.

Source: core `tools/shell.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from services.clock import Clock
from services.tools.texts import js_fixed
from services.wire import Json

__all__ = ["KEPT_OUTPUT", "LiveOutput"]

_INTERVAL_MS: Final = 1000
KEPT_OUTPUT: Final = 100_000
"""The most UTF-16 units of output that are shown; the beginning is dropped."""
_KILOBYTE: Final = 1024


class LiveOutput:
    """Keeps the output of a command and passes it to `show`, if there is one."""

    def __init__(self, clock: Clock, show: Callable[[Json], None] | None) -> None:
        self._clock = clock
        self._show = show
        self._pending = False
        self._is_binary = False
        self._shown_at = 0
        self._trailing: asyncio.Task[None] | None = None
        self.text = ""
        """The current output: its last `KEPT_OUTPUT` UTF-16 units."""

    def add(self, text: str) -> None:
        """Add a piece of text."""
        self.text = _tail(self.text + text)
        self._pending = True
        if self._elapsed > _INTERVAL_MS:
            self.flush()
        elif self._trailing is None and self._show is not None:
            self._trailing = asyncio.get_running_loop().create_task(self._flush_later())

    def binary(self, byte_count: int) -> None:
        """Replace the output by a note about binary output and its size so far."""
        if not self._is_binary:
            self._is_binary = self._pending = True
            self.text = "[Binary output detected. Halting stream...]"
            self.flush()
        self.text = f"[Receiving binary output... {_size(byte_count)} received]"
        self._pending = True
        if self._elapsed > _INTERVAL_MS:
            self.flush()

    def flush(self) -> None:
        """Show the output, if it has changed."""
        if self._trailing is not None and self._trailing is not asyncio.current_task():
            self._trailing.cancel()
        self._trailing = None
        if self._pending and self._show is not None:
            self._show(self.text)
            self._pending = False
            self._shown_at = self._clock.now_ms()

    async def close(self) -> None:
        """Stop showing output."""
        self._show = None
        if self._trailing is not None:
            self._trailing.cancel()
            await asyncio.wait([self._trailing])

    @property
    def _elapsed(self) -> int:
        return self._clock.now_ms() - self._shown_at

    async def _flush_later(self) -> None:
        await self._clock.sleep(max(_INTERVAL_MS - self._elapsed, 0))
        self.flush()


def _tail(text: str) -> str:
    if text.isascii():
        return text[-KEPT_OUTPUT:]
    # A cut through a surrogate pair drops the whole character.
    return text.encode("utf-16-le", "surrogatepass")[-2 * KEPT_OUTPUT :].decode(
        "utf-16-le", "ignore"
    )


def _size(byte_count: int) -> str:
    for unit, power in (("KB", 1), ("MB", 2)):
        if byte_count < _KILOBYTE ** (power + 1):
            return f"{js_fixed(byte_count / _KILOBYTE**power, 1)} {unit}"
    return f"{js_fixed(byte_count / _KILOBYTE**3, 2)} GB"
