"""Listing again when a server says that its list has changed.

One listing at a time; a notice during it means one more. Some servers give notice before they are
ready: when nothing seems to have changed, the list is fetched once more after half a second.

A server that gives notice after each listing would be listed for ever (the core does, in the
background): until somebody waits for the list again, it is fetched a limited number of times.

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
"""How often a list is fetched between two requests to the model; a burst of notices takes some."""


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
        """Make one.

        Args:
            what: the list's name, for the log.
            fetch_and_replace: lists, and replaces what is registered. It awaits its argument when
                nothing seems to have changed; true means: list again. False: the server is away.
            changed: called after each replacement.
            tasks: where the listing runs.
            clock: for the half second.
            leaving: aborted when the connection is given up.
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
        """The server says that the list has changed."""
        self._pending = True
        self._start()

    async def settled(self) -> None:
        """Return when no listing is under way, or after the most that there may be.

        What the server gave notice of after those is fetched when this is called again.
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
