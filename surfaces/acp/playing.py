"""`open_played_connection`: the agent of a client that a program plays, in the same event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from services.wire import JsonObject
from surfaces.acp.agent import AcpAgent
from surfaces.acp.sessions import Opening, Request
from surfaces.acp.wire import CheckedLines, serve
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import without_questions

__all__ = ["Opening", "Request", "open_played_connection", "without_questions"]


class _Output:
    """The agent's output: gives each message to the client at once."""

    def __init__(self, receive: Callable[[JsonObject], None]) -> None:
        self._receive = receive

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            self._receive(json.loads(line))

    async def drain(self) -> None:
        """Nothing waits: each message is received when it is written."""


@asynccontextmanager
async def open_played_connection(
    opening: Opening, receive: Callable[[JsonObject], None]
) -> AsyncIterator[Callable[[JsonObject], None]]:
    """Serve a client; yields the function that sends a message to the agent.

    Leaving closes the agent's input, and waits until its sessions have ended.

    Args:
        opening: prepares and opens the sessions.
        receive: gets each message of the agent.
    """
    output = _Output(receive)
    lines = CheckedLines(output.write)

    def send(message: JsonObject) -> None:
        lines.feed_data(json.dumps(message).encode() + b"\n")

    make = partial(
        AcpAgent, HeadlessOptions(), version="played", warn=lambda _: None, opening=opening
    )
    async with asyncio.TaskGroup() as group:
        # Only `write` and `drain` of a writer are used.
        group.create_task(serve(make, lines, cast("asyncio.StreamWriter", output)), name="agent")
        try:
            yield send
        finally:
            lines.feed_eof()
