"""`run_a2a`: a server for other agents and editors, from the command line to an exit code.

Source: `packages/a2a-server` `http/server.ts`.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import ssl
from importlib.metadata import PackageNotFoundError, version
from types import FrameType
from typing import Any, Final, TextIO

import uvicorn

from services.model.errors import FatalConfigError, FatalError, FatalInputError
from services.net.listening import listening_socket
from surfaces.a2a.access import Entrance, TlsFiles
from surfaces.a2a.card import AgentCards
from surfaces.a2a.commands import ServerCommands
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.folders import Folders
from surfaces.a2a.push.delivery import Callbacks
from surfaces.a2a.push.hosts import CallbackHosts
from surfaces.a2a.push.signing import Signer, open_key
from surfaces.a2a.rest import RestRoutes
from surfaces.a2a.server import make_app
from surfaces.a2a.storage.opening import open_database
from surfaces.a2a.storage.store import TaskStore
from surfaces.a2a.tasks import Tasks
from surfaces.a2a.wire import RpcError
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.streams import Streams

__all__ = ["run_a2a"]

_PORT: Final = "CODER_AGENT_PORT"
_OWN_VARIABLES: Final = "PARITY_A2A_"
_DATABASE: Final = "PARITY_A2A_DATABASE"
_FILE: Final = "a2a-tasks.sqlite"
_KEY_FILE: Final = "a2a-callbacks.pem"
_GRACE_SECONDS: Final = 5
_MOST_FILES: Final = 65_536
_SHUTDOWN: Final = "The server is shutting down. Send a message to go on."


def run_a2a(options: HeadlessOptions, *, host: str, port: int | None, err: TextIO) -> int:
    """Serve until the process is asked to end; returns the exit code.

    Without a port it is that of `CODER_AGENT_PORT`, or a free one.

    0 the process was asked to end; 42 the command line or the environment cannot be used; another
    code of a `FatalError`: the server cannot start.
    """
    streams = Streams(err, err)
    try:
        asyncio.run(_serve(options, host, port, streams))
    except FatalError as error:
        streams.report(str(error))
        return error.exit_code
    return 0


async def _serve(options: HeadlessOptions, host: str, port: int | None, streams: Streams) -> None:
    machine = Machine.here()
    variables, workspace = machine.environment.variables, machine.workspace
    entrance = Entrance.of(host, variables)
    _hide_own_variables()
    _allow_many_streams()
    with _listening(host, port, variables.get(_PORT)) as listener:
        url = entrance.url(listener.getsockname()[1])
        key = open_key(workspace.project_temp / _KEY_FILE)
        callbacks = Callbacks(
            CallbackHosts.of(variables, own=entrance.own),
            Signer(key, issuer=url, clock=machine.clock, ids=machine.ids),
            machine.clock,
            streams.report,
        )
        database = open_database(variables.get(_DATABASE), workspace.project_temp / _FILE)
        store = TaskStore(database, machine.clock, streams.report)
        tasks = Tasks(
            options=options,
            machine=machine,
            folders=Folders.of(variables, workspace.root, workspace.home),
            store=store,
            warn=streams.report,
            notifier=callbacks,
        )
        app = make_app(
            tasks,
            RestRoutes(tasks, ServerCommands(tasks)),
            entrance.access(),
            AgentCards(url, _version(), entrance.schemes),
            callbacks,
        )
        async with store.open(tasks.used):
            due = await _taken_over(tasks)
            async with callbacks.open(due):
                if entrance.warning is not None:
                    streams.report(entrance.warning)
                streams.report(f"The A2A server listens on {url}")
                server = _Server(app, tasks, entrance.tls)
                async with asyncio.TaskGroup() as group:
                    group.create_task(server.end_when_asked(), name="shutdown")
                    await server.serve(sockets=[listener])
                    server.ended.set()


def _allow_many_streams() -> None:
    """Each stream takes a file of the process, and the usual limit of 1024 is soon reached."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _hide_own_variables() -> None:
    """Take the server's secrets out of the environment, which tools inherit."""
    for name in [name for name in os.environ if name.startswith(_OWN_VARIABLES)]:
        del os.environ[name]


async def _taken_over(tasks: Tasks) -> list[TaskFeed]:
    """Say what has become of the tasks of an earlier server; return those with callbacks due.

    Raises:
        FatalConfigError: they cannot be read.
    """
    try:
        await tasks.report_unfinished()
        return await tasks.due()
    except RpcError as error:
        raise FatalConfigError(f"Error: {error}") from error


class _Server(uvicorn.Server):
    """A server that ends its tasks before its connections."""

    def __init__(self, app: Any, tasks: Tasks, tls: TlsFiles | None) -> None:
        authorities = None if tls is None else tls.client_authorities
        config = uvicorn.Config(
            app,
            ssl_certfile=None if tls is None else tls.certificate,
            ssl_keyfile=None if tls is None else tls.key,
            ssl_ca_certs=authorities,
            ssl_cert_reqs=ssl.CERT_NONE if authorities is None else ssl.CERT_REQUIRED,
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        super().__init__(config)
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        """Set when the server is asked to end, or has ended."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the shutdown."""
        self._loop.call_soon_threadsafe(self.ended.set)

    async def end_when_asked(self) -> None:
        """When asked, say so in each task that works, and let the server end."""
        await self.ended.wait()
        await self._tasks.end_all(_SHUTDOWN)
        self.should_exit = True


def _listening(host: str, port: int | None, from_environment: str | None) -> socket.socket:
    """A socket on the address.

    Raises:
        FatalInputError: the port is none, or the address cannot be used.
    """
    if port is None:
        text = from_environment or "0"
        port = int(text) if text.isascii() and text.isdecimal() else -1
        if not 0 <= port <= 65535:
            raise FatalInputError(
                f"Error: {_PORT} is {from_environment!r}; write a number from 0 to 65535"
            )
    try:
        return listening_socket(host, port)
    except OSError as error:
        raise FatalInputError(
            f"Error: the server cannot listen on {host}, port {port}: {error}; choose "
            "another address with --host and --port"
        ) from error


def _version() -> str:
    try:
        return version("parity")
    except PackageNotFoundError:
        return "unknown"
