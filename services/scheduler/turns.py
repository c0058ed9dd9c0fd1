"""`BatchTurns`: lets one batch of calls run at a time, in order of arrival."""

from __future__ import annotations

import asyncio
from collections import deque

from services.abort import AbortSignal

__all__ = ["BatchTurns", "ScheduleRejected"]


class ScheduleRejected(Exception):
    """A batch that was cancelled before it started."""


class BatchTurns:
    """The queue of one scheduler's batches."""

    def __init__(self) -> None:
        self._busy = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self, signal: AbortSignal) -> None:
        """Wait until no other batch is running, and count as the running one.

        Raises:
            ScheduleRejected: `signal` was aborted, or all waiting batches were rejected, before.
        """
        if not self._busy:
            self._busy = True
            return
        if signal.aborted:
            raise ScheduleRejected("Operation cancelled")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)

        def leave() -> None:
            if turn in self._waiting and not turn.done():
                self._waiting.remove(turn)
                turn.set_exception(ScheduleRejected("Tool call cancelled while in queue."))

        off = signal.on_abort(leave)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif turn.done() and not turn.cancelled() and turn.exception() is None:
                self.end()
            raise
        finally:
            off()

    def end(self) -> None:
        """Let the next batch start; `_busy` stays set, so that no newer batch starts before it."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._busy = False

    def reject_waiting(self, why: str) -> None:
        """Raise `ScheduleRejected` in every waiting batch."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(ScheduleRejected(why))
