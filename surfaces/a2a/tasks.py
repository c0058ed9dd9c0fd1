"""`Tasks`: the tasks of a server. It opens their sessions, and ends them.

Source: `packages/a2a-server` `agent/executor.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakValueDictionary

from services.clock import iso_timestamp
from services.model.auth import AuthError
from services.model.errors import FatalError
from services.wire import JsonObject
from surfaces.a2a.dialects import dialect_of
from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI, settings_in
from surfaces.a2a.feed import NO_CALLBACKS, Notifier, TaskFeed
from surfaces.a2a.folders import FolderRefused, Folders
from surfaces.a2a.keeping import KeepsTasks
from surfaces.a2a.listeners import Listener
from surfaces.a2a.push import configs
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.sessions import Opening, Sessions
from surfaces.a2a.storage.database import Query
from surfaces.a2a.task import Task
from surfaces.a2a.wire import RpcError, agent_message, invalid_params, task_not_found, text_part
from surfaces.allowed import Allowed
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.terminal.live import LiveSession

__all__ = ["NotOpened", "Tasks", "settings_of"]

_SETTINGS: Final = "agent-settings"
_MOST_OPEN: Final = 256


class NotOpened(Exception):
    """The session of a new task cannot be opened, so the task has failed."""

    def __init__(self, feed: TaskFeed, message: str) -> None:
        super().__init__(message)
        self.feed = feed


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
        notifier: makes the callbacks of tasks.
        most_open: how many sessions may be open at once.
        opening: prepares and opens the sessions, if not this machine does.
    """

    options: HeadlessOptions
    machine: Machine
    folders: Folders
    store: KeepsTasks
    warn: Callable[[str], None]
    notifier: Notifier = NO_CALLBACKS
    most_open: int = _MOST_OPEN
    opening: Opening | None = None
    _open: dict[str, _Open] = field(default_factory=dict)
    """The open tasks, those that got no message for longest first."""
    _opening: int = 0
    _ends: bool = False
    _feeds: WeakValueDictionary[str, TaskFeed] = field(default_factory=WeakValueDictionary)
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def report_unfinished(self) -> None:
        """Say in each task that an earlier server left unfinished what has become of it.

        Raises:
            RpcError: the tasks cannot be read.
        """
        for record in await self.store.unfinished():
            text = (
                f"The server ended while calls waited for approval: {', '.join(record.waiting)}. "
                "They were not run. Send a message to go on."
                if record.waiting
                else "The server ended while it worked on the task. Send a message to go on."
            )
            message = self._agent_says(record, text)
            record.waiting = []
            feed = self._feed(record)
            feed.publish(_status(record, "input-required", message, self._now()))

    async def due(self) -> list[TaskFeed]:
        """The tasks for which an earlier server has not made all callbacks.

        Raises:
            RpcError: the tasks cannot be read.
        """
        found = await self.store.due()
        return [self._feeds.get(record.id) or self._feed(record) for record in found]

    async def submit(
        self,
        message: JsonObject,
        extension: str | None = None,
        callback: JsonObject | None = None,
        *,
        announces: bool = False,
    ) -> tuple[TaskFeed, Listener]:
        """Begin to answer a message; return the task's feed and the events of the answer.

        Args:
            message: the message of A2A 0.3.
            extension: the URI of the extension that the request asks for.
            callback: a push notification configuration, with its id.
            announces: whether the events begin with the task, as those of a new task do.

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
            _add(callback, task.record)
            return task.feed, await task.submit(message, announces=announces)
        record = self._new_record(message.get("contextId"), _settings_in(message, extension))
        record.speak(extension)
        _add(callback, record)
        feed = self._feed(record)
        try:
            task = await self._start(feed)
        except (FatalError, FolderRefused, AuthError) as error:
            listener = feed.listen()
            if announces:
                listener.add(record.shown_whole())
            self._fail(feed, str(error))
            return feed, listener
        return feed, await task.submit(message, announces=True)

    async def begun(self, settings: JsonObject | None, extension: str) -> Task:
        """A new task in the dialect of `extension`, for a command.

        Raises:
            NotOpened: its session cannot be opened.
            RpcError: too many tasks are open.
        """
        record = self._new_record(None, settings)
        record.speak(extension)
        feed = self._feed(record)
        try:
            return await self._start(feed)
        except (FatalError, FolderRefused, AuthError) as error:
            self._fail(feed, str(error))
            raise NotOpened(feed, str(error)) from error

    async def create(self, context_id: str | None, settings: JsonObject | None) -> Task:
        """Create a task before its first message.

        Raises:
            FolderRefused: it may not work in its folder.
            FatalError: its session cannot be opened.
            RpcError: too many tasks are open, or it cannot be saved.
        """
        task = await self._start(self._feed(self._new_record(context_id, settings)))
        await task.feed.kept()
        return task

    async def feed(self, task_id: str) -> TaskFeed:
        """The feed of the task with this id.

        Raises:
            RpcError: there is none, or the tasks cannot be read.
        """
        found = self._feeds.get(task_id)
        if found is not None:
            return found
        record = await self.store.load(task_id)
        if record is None:
            raise task_not_found(task_id)
        # Another request may have loaded it meanwhile.
        return self._feeds.get(task_id) or self._feed(record)

    async def find(self, task_id: str) -> TaskRecord:
        """The task with this id, as the last event has left it.

        Raises:
            RpcError: there is none, or the tasks cannot be read.
        """
        return (await self.feed(task_id)).record

    async def page(self, query: Query) -> tuple[list[TaskRecord], int, tuple[int, str] | None]:
        """The tasks that match, the number of all of them, and where the next page begins.

        Raises:
            RpcError: the tasks cannot be read.
        """
        page = await self.store.page(query)
        records = [await self.find(each.task_id) for each in page.found]
        last = page.found[-1] if page.more else None
        return records, page.total, None if last is None else (last.status_ms, last.task_id)

    def get_open(self, task_id: str) -> Task | None:
        """The task with this id, if its session is open."""
        found = self._open.get(task_id)
        return None if found is None else found.task

    def all_open(self) -> list[Task]:
        """The tasks whose sessions are open, those that got no message for longest first."""
        return [each.task for each in self._open.values()]

    def used(self) -> list[str]:
        """The ids of the tasks that are open, or that a client follows."""
        return [*self._open, *self._feeds]

    async def opened(self, task_id: str) -> Task:
        """The task with this id; its session is opened if it is not.

        Raises:
            RpcError: there is none, it is over, or its session cannot be opened.
        """
        lock = self._locks.get(task_id)
        if lock is None:
            lock = self._locks[task_id] = asyncio.Lock()
        async with lock:
            found = self._open.pop(task_id, None)
            if found is not None and not found.task.is_closed:
                self._open[task_id] = found  # Now it is the last to be closed.
                return found.task
            if found is not None:
                await asyncio.wait([found.server])
            feed = await self.feed(task_id)
            record = feed.record
            if record.is_over:
                raise RpcError(
                    -32600,
                    f"Task {task_id} is in a terminal state ({record.state}) and cannot be "
                    "modified.",
                )
            try:
                return await self._start(feed)
            except (FatalError, FolderRefused, AuthError) as error:
                raise RpcError(-32603, f"Task {task_id} cannot be opened: {error}") from error

    async def cancel(self, task_id: str) -> JsonObject:
        """Cancel a task; return it.

        Raises:
            RpcError: there is none, or it is over.
        """
        found = self._open.get(task_id)
        if found is not None and not found.task.is_closed:
            feed, shown = found.task.feed, found.task.cancel()
            await feed.kept()
            return shown
        feed = await self.feed(task_id)
        record = feed.record
        if record.is_over:
            raise RpcError(-32002, f"Task not cancelable: {task_id}")
        message = self._agent_says(record, "Task cancellation requested by user.")
        record.waiting = []
        feed.publish(_status(record, "canceled", message, self._now()))
        await feed.kept()
        return record.shown_whole()

    def resume(self, feed: TaskFeed, *, follows: bool = False) -> Listener:
        """The task as it is now, and the events from now on.

        Args:
            feed: the task.
            follows: whether the events of further turns follow.
        """
        task = self.get_open(feed.record.id)
        if task is not None and (follows or task.is_busy):
            return task.resume(follows=follows)
        listener = feed.listen(follows=follows)
        listener.add(feed.record.shown_whole(), feed.saved)
        if not follows:
            listener.end()
        return listener

    async def leave(self, feed: TaskFeed, listener: Listener) -> None:
        """Forget a listener whose client is gone.

        In the published dialect the turn ends if that was the last one and nothing is called back.
        """
        feed.forget(listener)
        record = feed.record
        if listener.ended or feed.is_followed or record.callbacks or record.extension is not None:
            return
        task = self.get_open(record.id)
        if task is not None:
            await task.interrupt("Execution aborted by client.")

    @asynccontextmanager
    async def session(self, settings: JsonObject | None = None) -> AsyncIterator[LiveSession]:
        """A session for what belongs to no task, by default in the server's folder.

        Raises:
            FatalError: it cannot be opened.
            FolderRefused: the folder cannot be used.
        """
        session_id = self.machine.ids.uuid("session")
        async with self._sessions.open(session_id, settings or {}, resumes=False) as live:
            yield live

    async def end_all(self, text: str) -> None:
        """End every turn with `text`, every stream and every session. No other begins."""
        self._ends = True
        for each in list(self._open.values()):
            await each.task.interrupt(text)
        async with asyncio.TaskGroup() as group:
            for each in list(self._open.values()):
                group.create_task(_ended(each))
        for feed in list(self._feeds.values()):
            feed.end()

    @property
    def _sessions(self) -> Sessions:
        return Sessions(
            options=self.options, folders=self.folders, warn=self.warn, opening=self.opening
        )

    def _feed(self, record: TaskRecord) -> TaskFeed:
        feed = self._feeds[record.id] = TaskFeed(record, self.store, self.notifier)
        return feed

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

    async def _start(self, feed: TaskFeed) -> Task:
        """Open the session of a task, in an asyncio task that also closes it.

        Raises:
            FatalError: it cannot be opened.
            FolderRefused: the task may not work in its folder.
            RpcError: too many tasks are open.
        """
        if self._ends:
            raise RpcError(-32603, "The server is shutting down; send the message again later")
        await self._make_room()
        opened: asyncio.Future[Task] = asyncio.get_running_loop().create_future()
        self._opening += 1
        server = asyncio.create_task(self._serve(feed, opened), name="A2A task")
        try:
            either: list[asyncio.Future[Any]] = [server, opened]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            server.cancel()
            raise
        finally:
            self._opening -= 1
        if not opened.done():
            await server  # Raises what has kept the session from opening.
        task = opened.result()
        task_id, each = feed.record.id, _Open(task, server)
        self._open[task_id] = each
        server.add_done_callback(lambda _: self._gone(task_id, each))
        feed.keep()
        return task

    def _gone(self, task_id: str, each: _Open) -> None:
        if self._open.get(task_id) is each:
            del self._open[task_id]

    async def _make_room(self) -> None:
        """Close the sessions of idle tasks where too many are open; they can be opened again.

        Raises:
            RpcError: all work, or wait for their users.
        """
        while len(self._open) + self._opening >= self.most_open:
            idle = next((each for each in self._open.values() if each.task.is_quiet), None)
            if idle is None:
                raise RpcError(
                    -32603,
                    f"{self.most_open} tasks work or wait for their users; try again when one "
                    "has ended, or cancel one",
                )
            idle.task.close()
            await asyncio.wait([idle.server])

    async def _serve(self, feed: TaskFeed, opened: asyncio.Future[Task]) -> None:
        record = feed.record
        settings = record.document["metadata"]["__persistedState"]["_agentSettings"]
        resumes = bool(record.history)
        async with self._sessions.open(record.id, settings, resumes=resumes) as live:
            task = Task(feed, live)
            ready = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(task.serve(ready), name="turns")
                await ready.wait()
                opened.set_result(task)

    def _fail(self, feed: TaskFeed, text: str) -> None:
        """Fail a task whose session cannot be opened."""
        record = feed.record
        event = _status(record, "failed", self._agent_says(record, text), self._now())
        dialect = dialect_of(record.extension, Allowed(session=False), None)
        event["metadata"] = dialect.metadata("state-change", "unknown", error=text, usage=None)
        feed.publish(event)

    def _agent_says(self, record: TaskRecord, text: str) -> JsonObject:
        return agent_message(
            [text_part(text)],
            message_id=self.machine.ids.uuid("message"),
            task_id=record.id,
            context_id=record.context_id,
        )

    def _now(self) -> int:
        return self.machine.clock.now_ms()


def _add(callback: JsonObject | None, record: TaskRecord) -> None:
    if callback is not None:
        configs.add(record, callback)


def settings_of(message: JsonObject, extension: str) -> JsonObject:
    """The settings in the metadata of a message, in the dialect of the extension.

    Raises:
        RpcError: there are none, or they cannot be used.
    """
    return {"kind": _SETTINGS, "workspacePath": settings_in(message, extension).workspace_path}


def _settings_in(message: JsonObject, extension: str | None) -> JsonObject | None:
    """The settings of a first message, in the dialect that the request asks for.

    Raises:
        RpcError: they are of the extension, and cannot be used.
    """
    if extension is not None:
        return settings_of(message, extension)
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
