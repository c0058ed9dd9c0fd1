"""`process_runtime`: an agent that is a program, and speaks JSON lines.

    shop = process_runtime(["node", "shop.js"])

The program reads a line `{"type": "message", "text": "…"}` from its standard input, and writes what
it does as lines: objects as in `adapters.events.EVENTS`, such as `{"type": "text", "text": "…"}`.
`{"type": "end"}` ends the answer, with a `reason` if it did not complete. A line
`{"type": "abort"}` asks it to end the answer early. Its input ends with the session.

Its requests to a model arrive at a server of this process: see `adapters.model.server`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

from adapters.agent import traits_of
from adapters.events import EVENTS, EventTable, Row
from adapters.outside.beside import program_beside_model
from adapters.outside.held import Held
from adapters.outside.program import Program
from adapters.problems import AgentBroke
from adapters.runtime import AgentRuntime
from services.bundle import Services
from services.wire import JsonObject

__all__ = ["process_runtime"]

_END: Final = "end"
_GRACE_S: Final = 5.0
"""Real seconds in which a program ends an aborted answer."""


def process_runtime(
    command: Sequence[str],
    *,
    tools: Mapping[str, JsonObject] | None = None,
    table: EventTable | Mapping[type | str, Row] = EVENTS,
    words: str = "process",
    workspace: bool = True,
    pieces: bool = False,
) -> AgentRuntime:
    """Make a runtime of a program. It works in the session's folder.

    Args:
        command: The program and its arguments; a new one runs for each conversation.
        tools: See `agent_runtime`, as for the other arguments.
        table: What it writes → events; a mapping extends `EVENTS`.
        words: Whose prompts it uses.
        workspace: Whether the files of the session's folder are compared.
        pieces: Whether each piece of text is an event of its own.
    """

    @asynccontextmanager
    async def conversations(services: Services) -> AsyncIterator[_Conversation]:
        async with program_beside_model(command, services) as (program, held):
            yield _Conversation(program, held)

    return AgentRuntime(
        conversations,
        traits=traits_of(tools=tools, words=words, workspace=workspace),
        table=EVENTS.extended(table),
        pieces=pieces,
    )


class _Conversation:
    """One conversation with a program."""

    place = ""

    def __init__(self, program: Program, held: Held) -> None:
        self._program = program
        self._held = held

    @contextmanager
    def around(self) -> Iterator[None]:
        """Virtual time stands still while the program works."""
        with self._held.message():
            yield

    async def send(self, text: str) -> AsyncGenerator[Any, None]:
        """Iterate over the lines of an answer."""
        self._program.write({"type": "message", "text": text})
        try:
            while True:
                line = await self._program.read()
                yield line
                if line.get("type") == _END:
                    return
        except (asyncio.CancelledError, GeneratorExit):
            await self._abort()
            raise

    async def _abort(self) -> None:
        """Ask the program to end its answer, and wait for that.

        Raises:
            AgentBroke: it does not end it.
        """
        self._program.write({"type": "abort"})
        try:
            async with asyncio.timeout(_GRACE_S):
                while (await self._program.read()).get("type") != _END:
                    pass
        except TimeoutError:
            raise AgentBroke(f"does not end an aborted answer within {_GRACE_S:g} s") from None

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """Nothing: it has no custom channels."""
        return {}
