"""Fetching a list again when a server notifies that it has changed.

One fetch runs at a time; a notification during it causes another. Some servers notify too early:
when nothing has changed, the list is fetched once more after half a second.

A server that notifies after each fetch would cause endless fetches (in the core it does): between
two calls of `settled` their number is limited.

Source: core `tools/mcp-client.ts` (`refreshTools`, `refreshPrompts`, `refreshResources`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from services.abort import AbortError, AbortSignal
from services.background import BackgroundTasks
from services.clock import Clock, sleep_or_abort
from services.mcp.errors import McpConnectionError, McpError
from services.mcp.results import ShapeError

__all__ = ["Refresher"]

logger = logging.getLogger(__name__)

_AGAIN_AFTER_MS: Final = 500
_MOST_ROUNDS: Final = 10
"""The most fetches of a list between two requests to the model."""


class Refresher:
    """Keeps one list of one server up to date."""

    def __init__(
        self,
        *,
        what: str,
        fetch_and_replace: Callable[[Callable[[], Awaitable[bool]]], Awaitable[bool]],
        changed: Callable[[], Awaitable[None]],
        tasks: BackgroundTasks,
        clock: Clock,
        leaving: AbortSignal,
    ) -> None:
        """Build a refresher.

        Args:
            what: the list's name, for the log.
            fetch_and_replace: fetches, and replaces what is registered. It awaits its argument when
                nothing has changed; true means: fetch again. It returns false without a server.
            changed: called after each replacement.
            tasks: where the fetches run.
            clock: for the half second.
            leaving: aborted when the connection closes.
        """
        self._what = what
        self._fetch_and_replace = fetch_and_replace
        self._changed = changed
        self._tasks = tasks
        self._clock = clock
        self._leaving = leaving
        self._pending = False
        self._rounds = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def notice(self) -> None:
        """Handle a notification that the list has changed."""
        self._pending = True
        self._start()

    async def settled(self) -> None:
        """Return when no fetch is running, or after the most fetches.

        The next call fetches what the server has notified since.
        """
        self._rounds = 0
        self._start()
        await self._idle.wait()

    def _start(self) -> None:
        due = self._pending and self._rounds < _MOST_ROUNDS and not self._leaving.aborted
        if due and self._idle.is_set():
            self._idle.clear()
            self._tasks.start(self._run(), name=f"mcp-refresh-{self._what}")

    async def _run(self) -> None:
        try:
            while self._pending:
                if self._rounds == _MOST_ROUNDS:
                    logger.warning("the %s are said to change at each listing", self._what)
                    break
                self._rounds += 1
                self._pending = False
                if not await self._fetch_and_replace(self._wait_for_more):
                    break
                await self._changed()
        except (McpError, McpConnectionError, ShapeError, AbortError) as error:
            logger.warning("refreshing the %s failed: %s", self._what, error)
        finally:
            self._idle.set()

    async def _wait_for_more(self) -> bool:
        if self._pending:
            return False
        await sleep_or_abort(self._clock, _AGAIN_AFTER_MS, self._leaving)
        return True
