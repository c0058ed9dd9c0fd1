"""`open_played_server`: a server and a client that a program plays, in the same event loop.

The client is a2a-sdk's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any, Final, Literal

import httpx
from a2a.client.client import Client, ClientCallContext, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from google.protobuf.json_format import ParseDict

from services.interaction.interaction import Interaction
from services.net.clients import in_process_client
from services.state import CoreEvents
from services.subagents.remote.chunks import chunk_of
from services.wire import JsonObject
from surfaces.a2a.access import Access
from surfaces.a2a.card import AgentCards
from surfaces.a2a.commands import ServerCommands
from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI
from surfaces.a2a.extension.schema import ToolCall, ToolCallConfirmation
from surfaces.a2a.folders import Folders
from surfaces.a2a.in_process import InProcess
from surfaces.a2a.protocol.routes import VERSION_HEADER
from surfaces.a2a.push.delivery import Callbacks
from surfaces.a2a.push.hosts import CallbackHosts
from surfaces.a2a.push.signing import Signer, new_key
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.rest import RestRoutes
from surfaces.a2a.server import make_app
from surfaces.a2a.sessions import Opening
from surfaces.a2a.storage.database import Page, Query
from surfaces.a2a.tasks import Tasks
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions

__all__ = [
    "EXTENSION_URI",
    "Machine",
    "Note",
    "Opening",
    "PlayedClient",
    "ToolCall",
    "ToolCallConfirmation",
    "open_played_server",
    "without_user",
]

Note = Callable[[Literal["agent", "client"], JsonObject], None]
"""Gets each message of JSON-RPC, in order. The ids of the requests are counted."""
_URL: Final = "http://localhost/"
_EARLIER: Final = {"headers": {VERSION_HEADER: "0.3"}}
"""In 0.3 a stream ends with the turn, which says when the client may go on."""


@asynccontextmanager
async def open_played_server(
    machine: Machine, opening: Opening, note: Note
) -> AsyncIterator[PlayedClient]:
    """Serve; yield a client of the server. Leaving ends the turns, and closes the sessions.

    Args:
        machine: the server's seams.
        opening: prepares and opens the sessions.
        note: gets the messages of both sides.
    """
    root = machine.workspace.root
    tasks = Tasks(
        options=HeadlessOptions(),
        machine=machine,
        folders=Folders(fixed=None, default=root, allowed=(root,)),
        store=_Memory(),
        warn=_nothing,
        opening=opening,
    )
    rest = RestRoutes(tasks, ServerCommands(tasks))
    access = Access(own=True, token=None)
    cards = AgentCards(_URL, "played", frozenset())
    app = make_app(tasks, rest, access, cards, _no_callbacks(machine))
    async with asyncio.TaskGroup() as group:
        transport = _Noting(InProcess(app, group), note)
        async with in_process_client(transport, _URL) as http:
            factory = ClientFactory(ClientConfig(httpx_client=http))
            client = await factory.create_from_url(_URL.rstrip("/"), resolver_http_kwargs=_EARLIER)
            try:
                yield PlayedClient(client, http)
            finally:
                await tasks.end_all("The client has left.")


def without_user() -> tuple[Interaction, CoreEvents, Callable[[str], None]]:
    """What a server opens a session with: no user answers at once, and no client reads warnings."""
    return Interaction(), CoreEvents(), _nothing


def _no_callbacks(machine: Machine) -> Callbacks:
    """What an application has for callbacks, where no task gets any."""
    signer = Signer(new_key(), issuer=_URL, clock=machine.clock, ids=machine.ids)
    return Callbacks(CallbackHosts.of({}, own=False), signer, machine.clock, _nothing)


def _nothing(_: str) -> None:
    """Leave a warning out."""


class PlayedClient:
    """A client that speaks the dialect of the extension.

    Args:
        client: a2a-sdk's client.
        http: the connection.
    """

    def __init__(self, client: Client, http: httpx.AsyncClient) -> None:
        self._client = client
        self._http = http
        self._headers = dict.fromkeys(EXTENSION_HEADERS[:1], EXTENSION_URI)
        self._context = ClientCallContext(service_parameters=self._headers)

    async def send(self, message: JsonObject) -> AsyncIterator[JsonObject]:
        """The events of the answer to a message, in the spelling of protocol 0.3.

        Args:
            message: a message of protocol 1.0 as JSON.

        Raises:
            A2AError: the server refuses it.
        """
        request = ParseDict({"message": message}, SendMessageRequest())
        async for event in self._client.send_message(request, context=self._context):
            yield chunk_of(event)

    async def follow(self, task_id: str) -> AsyncIterator[JsonObject]:
        """The task, then the events of its turn, if one is under way.

        Raises:
            A2AError: the server refuses it.
        """
        request = SubscribeToTaskRequest(id=task_id)
        async for event in self._client.subscribe(request, context=self._context):
            yield chunk_of(event)

    async def cancel(self, task_id: str) -> None:
        """Cancel a task.

        Raises:
            A2AError: the server refuses it.
        """
        await self._client.cancel_task(CancelTaskRequest(id=task_id), context=self._context)

    async def call(self, method: str, params: JsonObject) -> JsonObject:
        """The response to a method of the extension: with `result` or `error`."""
        body = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        response = await self._http.post(_URL, json=body, headers=self._headers)
        found: JsonObject = response.json()
        return found


class _Noting(httpx.AsyncBaseTransport):
    """Passes requests on, and notes the messages of JSON-RPC in them and in the responses."""

    def __init__(self, inner: httpx.AsyncBaseTransport, note: Note) -> None:
        self._inner = inner
        self._note = note
        self._ids = count()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return await self._inner.handle_async_request(request)
        number = next(self._ids)
        self._note("client", {**_sorted(json.loads(await request.aread())), "id": number})
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Heard(response.stream, partial(self._heard, number))
        return response

    def _heard(self, number: int, line: bytes) -> None:
        self._note("agent", {**json.loads(line), "id": number})


class _Heard(httpx.AsyncByteStream):
    """The body of a response: each line with JSON in it is noted before it is read."""

    def __init__(self, inner: httpx.AsyncByteStream, heard: Callable[[bytes], None]) -> None:
        self._inner = inner
        self._chunks = aiter(inner)
        self._heard = heard
        self._rest = b""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            self._take([self._rest])
            self._rest = b""
            raise
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self._take(lines)
        return chunk

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _take(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            data = line.removeprefix(b"data: ")
            if data.startswith(b"{"):
                self._heard(data)


def _sorted(value: Any) -> Any:
    """The same with sorted keys: the library leaves those of a structure unordered."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


class _Memory:
    """Keeps the tasks in memory."""

    def __init__(self) -> None:
        self._kept: dict[str, TaskRecord] = {}

    def save(self, record: TaskRecord) -> int:
        """Keep a task, which is safe at once."""
        self._kept[record.id] = record
        return 0

    async def safe(self, number: int) -> None:
        """Return at once."""

    async def load(self, task_id: str) -> TaskRecord | None:
        """The task with this id."""
        return self._kept.get(task_id)

    async def page(self, query: Query) -> Page:
        """No task: the played client lists none."""
        return Page((), 0, False)

    async def unfinished(self) -> list[TaskRecord]:
        """None: no earlier server kept any."""
        return []

    async def due(self) -> list[TaskRecord]:
        """None."""
        return []
