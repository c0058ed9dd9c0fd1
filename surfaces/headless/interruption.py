"""Ctrl-C and termination while an agent works.

Source: `packages/cli` `nonInteractiveCliAgentSession.ts`, `utils/cleanup.ts`.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from agent_protocol.agent import AgentProtocol
from services.model.errors import FatalCancellationError
from surfaces.headless.failures import CANCELLED
from surfaces.headless.streams import Streams

__all__ = ["Interruption"]

_SAY_AFTER_S: Final = 0.2


class Interruption:
    """Turns signals into the end of a run.

    The first Ctrl-C aborts the agent, whose stream then ends as `aborted`; a second one, or one
    before there is an agent, cancels the run. Termination and a lost terminal cancel it too, and
    are no failure.
    """

    def __init__(self, streams: Streams) -> None:
        self.requested = False
        self.terminated = False
        self._streams = streams
        self._agent: AgentProtocol | None = None
        self._aborting: asyncio.Task[None] | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Listen for signals on behalf of the task that is running."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        handlers = {signal.SIGINT: self._interrupt, signal.SIGTERM: self._terminate}
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = self._terminate
        for number, handler in handlers.items():
            # Not every platform's loop can; there Ctrl-C is a KeyboardInterrupt.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, handler, task)
        try:
            yield
        finally:
            for number in handlers:
                with suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.remove_signal_handler(number)

    def watch(self, agent: AgentProtocol) -> None:
        """From now on Ctrl-C aborts `agent`.

        Raises:
            FatalCancellationError: it came already.
        """
        self._agent = agent
        if self.requested:
            raise FatalCancellationError(CANCELLED)

    def _interrupt(self, task: asyncio.Task[object]) -> None:
        if self.requested or self._agent is None:
            self.requested = True
            task.cancel()
            return
        self.requested = True
        loop = asyncio.get_running_loop()
        said = loop.call_later(_SAY_AFTER_S, self._streams.report, "\nCancelling...")
        task.add_done_callback(lambda _: said.cancel())
        self._aborting = loop.create_task(self._agent.abort(), name="abort on Ctrl-C")

    def _terminate(self, task: asyncio.Task[object]) -> None:
        self.terminated = True
        task.cancel()
