"""A server in the same process, in fresh folders, with recorded answers in place of a model."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from surfaces.a2a.access import LOOPBACK, Access
from surfaces.a2a.card import AgentCards
from surfaces.a2a.commands import ServerCommands
from surfaces.a2a.folders import Folders
from surfaces.a2a.push.delivery import Callbacks
from surfaces.a2a.push.hosts import CallbackHosts
from surfaces.a2a.push.signing import Signer, open_key
from surfaces.a2a.rest import RestRoutes
from surfaces.a2a.server import make_app
from surfaces.a2a.storage.sqlite import sqlite_database
from surfaces.a2a.storage.store import TaskStore
from surfaces.a2a.tasks import Tasks
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from tests.surfaces.headless.conftest import write_answers

Json = dict[str, Any]
ONE_RUNTIME = pytest.mark.parametrize("runtime", ["legacy"])
"""For tests of what the server does before any runtime has a part in it."""


class Peer:
    """A client of the server."""

    def __init__(self, app: Starlette, tasks: Tasks, workspace: Path) -> None:
        self.app = app
        self._numbers = itertools.count(1)
        self.tasks = tasks
        self.workspace = workspace
        transport = httpx.ASGITransport(app=app)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    async def rpc(self, method: str, **params: Any) -> Json:
        """The whole response: with `result` or `error`."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        found: Json = (await self.http.post("/", json=body)).json()
        return found

    async def stream(self, method: str, **params: Any) -> list[Json]:
        """Every response of a stream, to its end."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        text = (await self.http.post("/", json=body)).text
        return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]

    async def say(self, *parts: str | Json, task: str | None = None) -> list[Json]:
        """The events of the answer to a message."""
        answers = await self.stream("message/stream", message=self.message(*parts, task=task))
        return [answer["result"] for answer in answers]

    def message(self, *parts: str | Json, task: str | None = None, **settings: Any) -> Json:
        """A message that begins a task, or goes on with one."""
        found: Json = {
            "kind": "message",
            "role": "user",
            "messageId": f"m{next(self._numbers)}",
            "parts": [
                {"kind": "text", "text": part}
                if isinstance(part, str)
                else {"kind": "data", "data": part}
                for part in parts
            ],
        }
        if task is not None:
            return {**found, "taskId": task}
        asked = {"kind": "agent-settings", "workspacePath": str(self.workspace), **settings}
        return {**found, "metadata": {"coderAgent": asked}}

    async def begun(
        self, until: str, headers: dict[str, str] | None = None, **params: Any
    ) -> tuple["asyncio.Task[None]", asyncio.Event]:
        """A stream that has got as far as `until`, and what ends its connection."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params}
        sent = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]
        gone, reached = asyncio.Event(), asyncio.Event()

        async def receive() -> Json:
            if sent:
                return sent.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Json) -> None:
            if until.encode() in message.get("body", b""):
                reached.set()

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": "/",
            "raw_path": b"/",
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                *(
                    (name.lower().encode(), value.encode())
                    for name, value in (headers or {}).items()
                ),
            ],
        }
        serving = asyncio.create_task(self.app(scope, receive, send))  # type: ignore[arg-type]
        await reached.wait()
        return serving, gone


def callbacks_of(
    machine: Machine, folder: Path, transport: httpx.AsyncBaseTransport | None = None
) -> Callbacks:
    """Callbacks to this machine only, over `transport` in place of the network."""
    return Callbacks(
        CallbackHosts.of({}, own=True),
        Signer(
            open_key(folder / "callbacks.pem"),
            issuer="http://localhost/",
            clock=machine.clock,
            ids=machine.ids,
        ),
        machine.clock,
        lambda _: None,
        transport,
    )


Serve = Callable[..., AbstractAsyncContextManager[Peer]]


@pytest.fixture
def serve(folders: Path, runtime: str) -> Serve:
    """Start a server with these answers of the model; `live`: the environment names the model."""

    @contextlib.asynccontextmanager
    async def started(
        *answers: Any,
        token: str | None = None,
        host: str = "127.0.0.1",
        live: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> AsyncIterator[Peer]:
        file = write_answers(folders / "answers.jsonl", *answers)
        machine = Machine.at(folders / "ws")
        database = sqlite_database(folders / "tasks.sqlite")
        store = TaskStore(database, machine.clock, lambda _: None)
        callbacks = callbacks_of(machine, folders, transport)
        tasks = Tasks(
            options=HeadlessOptions(runtime=runtime, fake_responses=None if live else file),
            machine=machine,
            folders=Folders(fixed=None, default=folders / "ws", allowed=(folders.resolve(),)),
            store=store,
            warn=lambda _: None,
            notifier=callbacks,
        )
        app = make_app(
            tasks,
            RestRoutes(tasks, ServerCommands(tasks)),
            Access(own=host in LOOPBACK, token=token),
            AgentCards("http://localhost/", "1", frozenset({"bearer"} if token else ())),
            callbacks,
        )
        peer = Peer(app, tasks, folders / "ws")
        async with store.open(tasks.used):
            await tasks.report_unfinished()
            async with callbacks.open(await tasks.due()):
                try:
                    yield peer
                finally:
                    await peer.http.aclose()
                    await tasks.end_all("The test has ended.")

    return started


def kinds(events: list[Json]) -> list[tuple[str, str]]:
    """Kind and state of each status update."""
    return [
        (event["metadata"]["coderAgent"]["kind"], event["status"]["state"])
        for event in events
        if event["kind"] == "status-update"
    ]


def data_of(event: Json) -> Json:
    """The data in the message of a status update."""
    found: Json = event["status"]["message"]["parts"][0]["data"]
    return found
