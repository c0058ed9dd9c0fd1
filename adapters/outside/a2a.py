"""`a2a_runtime`: an agent behind the A2A protocol.

    shop = a2a_runtime("http://127.0.0.1:{port}", command=["shop-server", "--port", "{port}"])

With a command, each conversation has a server of its own on a free port, and the server's requests
to a model arrive at this process. Without one, the server runs already: its model is its own, and a
comparison has only its events. Source: https://a2a-protocol.org, versions 0.3 and 1.0.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from typing import Any, Final

import httpx

from adapters.agent import traits_of
from adapters.events import Emit, EventTable, Row
from adapters.model.seam import ModelSeam
from adapters.model.server import open_model_server
from adapters.outside.held import Held
from adapters.outside.program import Program, start_program
from adapters.problems import AgentBroke
from adapters.runtime import OUTSIDE, AgentRuntime
from services.bundle import Services
from services.subagents.remote.cards import checked_card, interface
from services.subagents.remote.client import A2AClient
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.http import FAILURES, open_http
from services.subagents.remote.limits import Limits
from services.subagents.remote.results import Conversation as Ids
from services.wire import JsonObject

__all__ = ["A2A_EVENTS", "a2a_runtime"]

_CARD: Final = "/.well-known/agent-card.json"
_START_S: Final = 30.0
"""Real seconds in which a server that was started serves its card."""
_AGAIN_S: Final = 0.05
_CANCEL_S: Final = 5.0
_SAID: Final = "a2a: said"
_FAILED: Final = {"failed": "failed", "rejected": "refusal", "canceled": "aborted"}
"""State of a task → the reason of the stream's end."""


def _parts(holder: Mapping[str, Any] | None, emit: Emit) -> None:
    """The parts of a message or an artifact: texts, and data as events of their own."""
    for part in (holder or {}).get("parts") or ():
        if part.get("kind") == "text":
            emit.notes[_SAID] = True
            emit.text(part["text"])
        elif part.get("kind") == "data":
            emit.custom("data", {"data": part["data"]})


def _status(chunk: Mapping[str, Any], emit: Emit) -> None:
    status = chunk.get("status") or {}
    _parts(status.get("message"), emit)
    if status.get("state") in _FAILED:
        emit.end(_FAILED[status["state"]])


def _task(chunk: Mapping[str, Any], emit: Emit) -> None:
    """A task: at the begin of a stream, or as the whole answer."""
    for artifact in chunk.get("artifacts") or () if _SAID not in emit.notes else ():
        _parts(artifact, emit)
    _status(chunk, emit)


A2A_EVENTS: Final = EventTable(
    {
        "message": _parts,
        "task": _task,
        "status-update": _status,
        "artifact-update": lambda chunk, emit: _parts(chunk.get("artifact"), emit),
    },
    kind_of=lambda chunk: chunk.get("kind"),
)
"""Kind of a chunk of protocol 0.3 → events. Servers say in `data` parts what their tools do: a row
of an author can turn them into calls."""


def a2a_runtime(
    url: str,
    *,
    command: Sequence[str] | None = None,
    tools: Mapping[str, JsonObject] | None = None,
    table: EventTable | Mapping[type | str, Row] = A2A_EVENTS,
    words: str = "a2a",
    workspace: bool = False,
    pieces: bool = False,
) -> AgentRuntime:
    """Make a runtime of an agent that serves A2A.

    Args:
        url: Where it serves its card; `{port}` is the port of its own server.
        command: Starts a server for one conversation; `{port}` in it is a free port.
        tools: See `agent_runtime`, as for the other arguments.
        table: The chunks of answers → events; a mapping extends `A2A_EVENTS`.
        words: Whose prompts it uses.
        workspace: Whether the server works in the session's folder, whose files are then compared.
        pieces: Whether each piece of text is an event of its own.
    """

    @asynccontextmanager
    async def conversations(services: Services) -> AsyncIterator[_Conversation]:
        held, seam = Held(services.clock), ModelSeam(services.content_generator)
        port = _free_port() if command else 0
        async with AsyncExitStack() as stack:
            stack.push_async_callback(seam.close)
            server = await stack.enter_async_context(open_model_server(seam, held))
            http = await stack.enter_async_context(open_http(Limits(), None, None))
            program = None
            with held.message():
                if command is not None:
                    shown = [word.replace("{port}", str(port)) for word in command]
                    folder = services.workspace.root
                    program = await start_program(shown, folder, server.variables)
                    stack.push_async_callback(_stopped, program, held)
                client = await _client(url.replace("{port}", str(port)), http, program)
            yield _Conversation(client, services, held)

    channels = OUTSIDE if command else frozenset({"events"})
    return AgentRuntime(
        conversations,
        traits=traits_of(tools=tools, words=words, workspace=workspace, channels=channels),
        table=A2A_EVENTS.extended(table),
        pieces=pieces,
    )


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def _stopped(program: Program, held: Held) -> None:
    with held.message():
        await program.stop(serves=True)


async def _client(url: str, http: httpx.AsyncClient, program: Program | None) -> A2AClient:
    """Read the agent's card, as soon as a server that was just started serves it.

    Raises:
        AgentBroke: there is none, or it offers nothing that this client speaks.
    """
    place = f"{url.rstrip('/')}{_CARD}"
    try:
        async with asyncio.timeout(_START_S):
            card = await _card(place, http, program)
        found = interface(checked_card(card))
        streams = bool((card.get("capabilities") or {}).get("streaming"))
        return A2AClient(found, http, streaming=streams)
    except TimeoutError:
        raise AgentBroke(f"serves no card at {place} within {_START_S:g} s") from None
    except RemoteAgentError as error:
        raise AgentBroke(f"has a card at {place} that cannot be used: {error}") from error


async def _card(place: str, http: httpx.AsyncClient, program: Program | None) -> JsonObject:
    while True:
        try:
            response = await http.get(place)
            card = response.json()
            if response.status_code == 200 and isinstance(card, dict):
                return card
            raise AgentBroke(f"serves no card at {place}, but status {response.status_code}")
        except FAILURES as error:
            if program is None:
                raise AgentBroke(f"cannot be reached at {place}: {error}") from error
            if program.has_ended:
                raise AgentBroke(program.ending) from error
            await asyncio.sleep(_AGAIN_S)
        except ValueError as error:
            raise AgentBroke(f"serves no JSON at {place}") from error


class _Conversation:
    """One conversation with a server."""

    place = ""

    def __init__(self, client: A2AClient, services: Services, held: Held) -> None:
        self._client = client
        self._services = services
        self._held = held
        self._ids = Ids()

    @contextmanager
    def around(self) -> Iterator[None]:
        """Virtual time stands still while the server works."""
        with self._held.message():
            yield

    async def send(self, text: str) -> AsyncGenerator[Any, None]:
        """Iterate over the chunks of an answer."""
        message_id = self._services.ids.uuid("a2a message")
        chunks = self._client.send(text, message_id, self._ids)
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    self._ids = self._ids.after(chunk)
                    if chunk:
                        yield chunk
        except (asyncio.CancelledError, GeneratorExit):
            if self._ids.task_id is not None:
                await self._client.cancel(self._ids.task_id, _CANCEL_S)
            raise

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """Nothing: it has no custom channels."""
        return {}
