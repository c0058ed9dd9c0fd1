"""`Sessions`: opens the sessions of a connection, each in a task of its own, and ends them.

Source: `packages/cli` `acp/acpSessionManager.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from acp.exceptions import RequestError

from runtimes.registry import Surface
from services.interaction.interaction import Interaction
from services.model.errors import FatalError
from services.recording.loading import load_conversation_record
from services.scheduler.style import DirectStyle
from services.state import CoreEvents
from services.wire import JsonObject
from surfaces.acp.client import Client
from surfaces.acp.client_files import ClientFiles, FileAbilities
from surfaces.acp.replay import replayed
from surfaces.acp.servers import with_servers
from surfaces.acp.session import Session
from surfaces.acp.sign_in import SignIn
from surfaces.headless.engine import chosen_runtime
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import plan_run, without_questions
from surfaces.headless.sessions import NoSessions, SessionNotFound, find_session
from surfaces.terminal.live import LiveSession, OpenSession, open_live_session
from surfaces.terminal.prepared import Prepared

__all__ = ["Opening", "Request", "Sessions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What `session/new` and `session/load` have in common."""

    folder: str
    servers: Sequence[JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a program that plays the client prepares and opens new sessions."""

    prepare: Callable[[Request], Prepared]
    session: OpenSession


@dataclass(slots=True)
class _Open:
    """A session and the task that serves it."""

    session: Session
    task: asyncio.Task[None]


class Sessions:
    """The sessions of one connection.

    Args:
        options: the command line.
        client: the client.
        sign_in: how sessions reach the model.
        warn: gets messages that no session shows.
        opening: prepares and opens new sessions, if not this machine does.
    """

    def __init__(
        self,
        options: HeadlessOptions,
        client: Client,
        sign_in: SignIn,
        warn: Callable[[str], None],
        opening: Opening | None = None,
    ) -> None:
        self._opening = opening
        self._options = options
        self._client = client
        self._sign_in = sign_in
        self._warn = warn
        self._open: dict[str, _Open] = {}
        self.files = FileAbilities()
        """What the client can do with files."""

    def get(self, session_id: str) -> Session:
        """The open session with this id.

        Raises:
            RequestError: there is none.
        """
        found = self._open.get(session_id)
        if found is None:
            raise RequestError(-32602, f"Session not found: {session_id}")
        return found.session

    async def new(self, request: Request) -> JsonObject:
        """Open a new session; return the result of the request.

        Raises:
            RequestError: it cannot be opened.
        """
        prepare = self._prepared if self._opening is None else self._opening.prepare
        session = await self._opened(prepare(request))
        session.show(session.commands.update())
        return {"sessionId": session.id, **session.choices()}

    async def load(self, session_id: str, request: Request) -> JsonObject:
        """Open a session of the past, and show it; return the result of the request.

        Raises:
            RequestError: there is no such session, or it cannot be opened.
        """
        prepared = self._prepared(request)
        machine = prepared.machine
        try:
            resumed = find_session(machine.workspace.project_temp, session_id, machine.clock)
        except (NoSessions, SessionNotFound) as error:
            raise _failed(error) from error
        # The recording has one writer.
        await self.end(resumed.session_id)
        record = load_conversation_record(resumed.file, machine.clock)
        messages = list(record.messages) if record is not None else []
        prepared = replace(prepared, session_id=resumed.session_id, resumed=resumed)
        session = await self._opened(prepared)
        for update in replayed(messages, session.find_tool):
            session.show(update)
        await session.shown()
        session.show(session.commands.update())
        return session.choices()

    async def end(self, session_id: str) -> None:
        """End a session, if it is open."""
        found = self._open.pop(session_id, None)
        if found is not None:
            found.task.cancel()
            await asyncio.wait([found.task])

    async def end_all(self) -> None:
        """End every session."""
        for session_id in list(self._open):
            await self.end(session_id)

    def _prepared(self, request: Request) -> Prepared:
        """What a new session needs.

        Raises:
            RequestError: the folder, the settings or the way to the model are not usable.
        """
        folder = Path(request.folder)
        if not folder.is_dir():
            details = f"Directory does not exist: {Path.cwd() / folder}"
            raise RequestError.internal_error({"details": details})
        machine = Machine.at(folder.resolve())
        workspace, variables = machine.workspace, machine.environment.variables
        try:
            plan = plan_run(
                self._options,
                root=workspace.root,
                home=workspace.home,
                variables=variables,
                interactive=True,
            )
            plan = with_servers(plan, request.servers, workspace.root)
        except (FatalError, ValueError) as error:
            raise _failed(error) from error
        plan = without_questions(plan)
        return Prepared(
            options=self._options,
            machine=machine,
            plan=plan,
            source=self._sign_in.source(self._options, plan, variables),
            session_id=machine.ids.uuid("session"),
            batch_style=DirectStyle(),
        )

    async def _opened(self, prepared: Prepared) -> Session:
        """Open the session in a task of its own, which also closes it.

        Raises:
            RequestError: it cannot be opened.
        """
        opened: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._serve(prepared, opened), name="ACP session")
        try:
            either: list[asyncio.Future[Any]] = [task, opened]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not opened.done():
            failure = task.exception()
            assert failure is not None
            raise _failed(failure) from failure
        session = opened.result()
        self._open[session.id] = _Open(session, task)
        return session

    async def _serve(self, prepared: Prepared, opened: asyncio.Future[Session]) -> None:
        workspace = prepared.machine.workspace
        files = ClientFiles(
            self._client,
            prepared.session_id,
            self.files,
            root=workspace.root,
            own=workspace.home / ".gemini",
        )
        prepared = replace(prepared, text_files=files)
        open_session = open_live_session if self._opening is None else self._opening.session
        async with open_session(prepared, Interaction(), CoreEvents(), self._warn) as live:
            session = self._made(live)
            ready = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(session.run(ready), name="session")
                await ready.wait()
                opened.set_result(session)

    def _made(self, live: LiveSession) -> Session:
        plan = live.prepared.plan
        name = chosen_runtime(self._options.runtime, plan.settings, Surface.INTERACTIVE)
        for warning in plan.settings.warnings:
            self._warn(f"[WARNING] {warning}")
        return Session(live, self._client, runtime_name=name, warn=self._warn)


def _failed(error: BaseException) -> RequestError:
    return RequestError.internal_error({"details": str(error)})
