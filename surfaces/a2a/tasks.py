"""`Tasks`: the tasks of a server. It opens their sessions, and ends them.

Source: `packages/a2a-server` `agent/executor.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from services.clock import iso_timestamp
from services.interaction.interaction import Interaction
from services.model.auth import AuthError
from services.model.errors import FatalError
from services.state import ApprovalMode, CoreEvents
from services.wire import JsonObject
from surfaces.a2a.dialects import dialect_of
from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI, settings_in
from surfaces.a2a.folders import FolderRefused, Folders
from surfaces.a2a.listeners import Listener
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.store import TaskStore
from surfaces.a2a.task import Task
from surfaces.a2a.wire import RpcError, agent_message, invalid_params, task_not_found, text_part
from surfaces.headless.machine import Machine
from surfaces.headless.model import choose_model
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import Plan, plan_run
from surfaces.headless.sessions import (
    NoSessions,
    RecordedSession,
    SessionNotFound,
    find_session,
    moved_aside,
)
from surfaces.terminal.live import LiveSession, open_live_session
from surfaces.terminal.prepared import Prepared

__all__ = ["DEFAULT_MODEL", "Tasks"]

_SETTINGS: Final = "agent-settings"
DEFAULT_MODEL: Final = "gemini-3-pro-preview"
"""The published server's model; the command line's own default chooses one by the prompt."""
_MOST_OPEN: Final = 256


@dataclass(slots=True)
class _Open:
    """A task and what serves it."""

    task: Task
    server: asyncio.Task[None]


@dataclass(slots=True, kw_only=True)
class Tasks:
    """The tasks of one server.

    Args:
        options: the command line.
        machine: the server's own seams.
        folders: where tasks may work.
        store: keeps the tasks.
        warn: gets messages that no client reads.
    """

    options: HeadlessOptions
    machine: Machine
    folders: Folders
    store: TaskStore
    warn: Callable[[str], None]
    _open: dict[str, _Open] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    def report_unfinished(self) -> None:
        """Say in each task that an earlier server left unfinished what has become of it."""
        for record in self.store.unfinished():
            text = (
                f"The server ended while calls waited for approval: {', '.join(record.waiting)}. "
                "They were not run. Send a message to go on."
                if record.waiting
                else "The server ended while it worked on the task. Send a message to go on."
            )
            message = self._agent_says(record, text)
            record.waiting = []
            record.apply(_status(record, "input-required", message, self._now()))
            self._keep(record)

    async def submit(
        self, message: JsonObject, extension: str | None = None
    ) -> tuple[str, Listener]:
        """Begin to answer a message; return the task's id and the events of the answer.

        Args:
            message: the message of A2A 0.3.
            extension: the URI of the extension that the request asks for.

        Raises:
            RpcError: the message cannot be answered.
        """
        task_id = message.get("taskId")
        if task_id:
            task = await self.opened(str(task_id))
            if extension is not None and task.record.extension is None:
                raise invalid_params(
                    f"Task {task_id} began without the extension; leave the header out"
                )
            return task.record.id, await task.submit(message)
        record = self._new_record(message.get("contextId"), _settings_in(message, extension))
        record.speak(extension)
        try:
            task = await self._start(record)
        except (FatalError, FolderRefused, AuthError) as error:
            return record.id, self._failed(record, str(error))
        return record.id, await task.submit(message, announces=True)

    async def create(self, context_id: str | None, settings: JsonObject | None) -> Task:
        """Create a task before its first message.

        Raises:
            FolderRefused: it may not work in its folder.
            FatalError: its session cannot be opened.
            RpcError: too many tasks are open.
        """
        return await self._start(self._new_record(context_id, settings))

    def find(self, task_id: str) -> TaskRecord:
        """The task with this id.

        Raises:
            RpcError: there is none.
        """
        found = self._open.get(task_id)
        record = self.store.load(task_id) if found is None else found.task.record
        if record is None:
            raise task_not_found(task_id)
        return record

    def get_open(self, task_id: str) -> Task | None:
        """The task with this id, if its session is open."""
        found = self._open.get(task_id)
        return None if found is None else found.task

    def all_open(self) -> list[Task]:
        """The tasks whose sessions are open, oldest first."""
        return [each.task for each in self._open.values()]

    async def opened(self, task_id: str) -> Task:
        """The task with this id; its session is opened if it is not.

        Raises:
            RpcError: there is none, or it is over.
        """
        async with self._locks.setdefault(task_id, asyncio.Lock()):
            found = self._open.get(task_id)
            if found is not None:
                return found.task
            record = self.find(task_id)
            if record.is_over:
                raise RpcError(
                    -32600,
                    f"Task {task_id} is in a terminal state ({record.state}) and cannot be "
                    "modified.",
                )
            try:
                return await self._start(record)
            except (FatalError, FolderRefused, AuthError) as error:
                raise RpcError(-32603, f"Task {task_id} cannot be opened: {error}") from error

    def cancel(self, task_id: str) -> JsonObject:
        """Cancel a task; return it.

        Raises:
            RpcError: there is none, or it is over.
        """
        found = self._open.get(task_id)
        if found is not None:
            return found.task.cancel()
        record = self.find(task_id)
        if record.is_over:
            raise RpcError(-32002, f"Task not cancelable: {task_id}")
        message = self._agent_says(record, "Task cancellation requested by user.")
        record.apply(_status(record, "canceled", message, self._now()))
        record.waiting = []
        self._keep(record)
        return record.shown(len(record.document["history"]))

    async def leave(self, task_id: str, listener: Listener) -> None:
        """Forget a listener whose client is gone; the turn ends if it was the last one."""
        found = self._open.get(task_id)
        if found is not None:
            await found.task.leave(listener)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[LiveSession]:
        """A session in the server's folder, for a command that belongs to no task.

        Raises:
            FatalError: it cannot be opened.
            FolderRefused: the folder cannot be used.
        """
        prepared = self._prepared(self.machine.ids.uuid("session"), {}, resumes=False)
        async with open_live_session(prepared, Interaction(), CoreEvents(), self.warn) as live:
            yield live

    async def end_all(self, text: str) -> None:
        """End every turn with `text`, and close every session."""
        for each in list(self._open.values()):
            await each.task.interrupt(text)
        async with asyncio.TaskGroup() as group:
            for each in list(self._open.values()):
                group.create_task(_ended(each))

    def _new_record(self, context_id: Any, settings: JsonObject | None) -> TaskRecord:
        context = str(context_id) if context_id else self.machine.ids.uuid("context")
        asked = settings or {
            "kind": _SETTINGS,
            "workspacePath": str(self.folders.fixed or self.folders.default),
        }
        return TaskRecord(
            {
                "id": self.machine.ids.uuid("task"),
                "contextId": context,
                "kind": "task",
                "status": {"state": "submitted", "timestamp": iso_timestamp(self._now())},
                "metadata": {
                    "__persistedState": {
                        # A message cannot make a folder trusted.
                        "_agentSettings": {**asked, "isTrusted": False},
                        "_taskState": "submitted",
                    },
                    "_contextId": context,
                },
                "history": [],
                "artifacts": [],
            }
        )

    async def _start(self, record: TaskRecord) -> Task:
        """Open the session of a task, in an asyncio task that also closes it.

        Raises:
            FatalError: it cannot be opened.
            FolderRefused: the task may not work in its folder.
            RpcError: too many tasks are open.
        """
        if len(self._open) >= _MOST_OPEN:
            raise RpcError(-32603, f"{_MOST_OPEN} tasks are open; cancel one of them")
        settings = record.document["metadata"]["__persistedState"]["_agentSettings"]
        prepared = self._prepared(record.id, settings, resumes=bool(record.document["history"]))
        opened: asyncio.Future[Task] = asyncio.get_running_loop().create_future()
        server = asyncio.create_task(self._serve(record, prepared, opened), name="A2A task")
        try:
            either: list[asyncio.Future[Any]] = [server, opened]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            server.cancel()
            raise
        if not opened.done():
            await server  # Raises what has kept the session from opening.
        task = opened.result()
        self._open[record.id] = _Open(task, server)
        server.add_done_callback(lambda _: self._open.pop(record.id, None))
        self._keep(record)
        return task

    async def _serve(
        self, record: TaskRecord, prepared: Prepared, opened: asyncio.Future[Task]
    ) -> None:
        async with open_live_session(prepared, Interaction(), CoreEvents(), self.warn) as live:
            task = Task(record, live, keep=self._keep, warn=self.warn)
            ready = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(task.serve(ready), name="turns")
                await ready.wait()
                opened.set_result(task)

    def _prepared(self, session_id: str, settings: JsonObject, *, resumes: bool) -> Prepared:
        machine = Machine.at(self.folders.chosen(settings))
        plan = self._plan(machine, settings)
        source = choose_model(
            machine.environment.variables,
            fake=self.options.fake_responses,
            record=self.options.record_responses,
            selected=plan.selected_auth,
            enforced=plan.enforced_auth,
            strict=self.options.strict_responses,
        )
        return Prepared(
            options=self.options,
            machine=machine,
            plan=plan,
            source=source,
            session_id=session_id,
            resumed=_recorded(machine, session_id) if resumes else None,
        )

    def _plan(self, machine: Machine, settings: JsonObject) -> Plan:
        options = self.options
        if options.model is None:
            options = replace(options, model=DEFAULT_MODEL)
        workspace = machine.workspace
        plan = plan_run(
            options,
            root=workspace.root,
            home=workspace.home,
            variables=machine.environment.variables,
            interactive=True,
        )
        # The client asks for it, not the user who starts the server.
        allowed = plan.folder_trusted and not plan.settings.disable_yolo_mode
        if allowed and settings.get("autoExecute") is True:
            plan = replace(plan, approval_mode=ApprovalMode.YOLO)
        return plan

    def _failed(self, record: TaskRecord, text: str) -> Listener:
        """The events of a task whose session cannot be opened."""
        event = _status(record, "failed", self._agent_says(record, text), self._now())
        dialect = dialect_of(record.extension, always=False)
        event["metadata"] = dialect.metadata("state-change", "unknown", error=text, usage=None)
        record.apply(event)
        self._keep(record)
        listener = Listener()
        listener.add(event)
        return listener

    def _agent_says(self, record: TaskRecord, text: str) -> JsonObject:
        return agent_message(
            [text_part(text)],
            message_id=self.machine.ids.uuid("message"),
            task_id=record.id,
            context_id=record.context_id,
        )

    def _keep(self, record: TaskRecord) -> None:
        self.store.save(record, self._now())

    def _now(self) -> int:
        return self.machine.clock.now_ms()


def _settings_in(message: JsonObject, extension: str | None) -> JsonObject | None:
    """The settings of a first message, in the dialect that the request asks for.

    Raises:
        RpcError: they are of the extension, and cannot be used.
    """
    if extension is not None:
        folder = settings_in(message, extension).workspace_path
        return {"kind": _SETTINGS, "workspacePath": folder}
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and EXTENSION_URI in metadata:
        raise invalid_params(
            f"The message has AgentSettings, and the request has no header {EXTENSION_HEADERS[0]}; "
            f"write {EXTENSION_URI} into it"
        )
    given = metadata.get("coderAgent") if isinstance(metadata, dict) else None
    if not isinstance(given, dict) or given.get("kind") != _SETTINGS:
        return None
    return given


def _recorded(machine: Machine, session_id: str) -> RecordedSession | None:
    """The conversation of a task that an earlier server began."""
    try:
        found = find_session(machine.workspace.project_temp, session_id, machine.clock)
        return moved_aside(found, machine.clock)
    except (NoSessions, SessionNotFound):
        return None


def _status(record: TaskRecord, state: str, message: JsonObject, now_ms: int) -> JsonObject:
    return {
        "kind": "status-update",
        "taskId": record.id,
        "contextId": record.context_id,
        "status": {"state": state, "message": message, "timestamp": iso_timestamp(now_ms)},
        "final": True,
    }


async def _ended(each: _Open) -> None:
    await each.task.idle()
    each.server.cancel()
    await asyncio.wait([each.server])
