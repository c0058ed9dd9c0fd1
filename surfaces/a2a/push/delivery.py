"""`Callbacks`: calls the addresses that clients have named, when their tasks change.

Each configuration gets its events one after the other. A callback that fails is repeated, later and
later; a client whose server is away for long gets the task as it then is. What is due is kept with
the task: a server that was killed makes the callback after its restart.

Source: A2A 0.3, 9.5 "Push Notification"; A2A 1.0, 4.3.3 "Push Notification Payload".
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx

from services.clock import Clock
from services.net.clients import open_client
from services.net.errors import NetError
from services.net.terms import Terms
from services.wire import JsonObject
from surfaces.a2a.documents import stream_response
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.push.configs import BEHIND, DUE, PROTOCOL
from surfaces.a2a.push.hosts import CallbackHosts, CallbackRefused
from surfaces.a2a.push.signing import Signer
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.responses import encoded
from surfaces.a2a.wire import RpcError, is_final

__all__ = ["SIGNATURE_HEADER", "TOKEN_HEADER", "Callbacks"]

_TERMS: Final = Terms(answer_bytes=64 * 1024, private=True)
_TIMEOUT_S: Final = 15.0
_ATTEMPTS: Final = 8
_FIRST_DELAY_MS: Final = 1000
_LONGEST_DELAY_MS: Final = 60_000
_GRACE_MS: Final = 3000
_MOST_WAITING: Final = 500
_AT_ONCE: Final = 16
_SHOWN_MESSAGES: Final = 20
"""How much of the history a callback in 0.3 carries. `tasks/get` has the rest."""
_AGAIN: Final = frozenset({408, 425, 429})
"""The statuses below 500 after which a callback is repeated."""
TOKEN_HEADER: Final = "X-A2A-Notification-Token"  # noqa: S105 - a header's name
SIGNATURE_HEADER: Final = "X-A2A-Notification-Signature"


@dataclass(frozen=True, slots=True)
class _Due:
    """An event to be delivered; `None`: the task as it is when the callback is made."""

    event: JsonObject | None
    saved: int


@dataclass(slots=True)
class _Line:
    """What waits for one configuration."""

    feed: TaskFeed
    config: JsonObject
    due: deque[_Due] = field(default_factory=deque)

    @property
    def is_wanted(self) -> bool:
        """Whether the client has not deleted or replaced the configuration."""
        return self.feed.record.callbacks.get(self.config["id"]) is self.config


class Callbacks:
    """The callbacks of one server.

    Args:
        hosts: the hosts that may be called.
        signer: signs each callback.
        clock: the server's clock.
        warn: gets a message where a callback is given up.
        transport: takes the network's place; for tests.
    """

    def __init__(
        self,
        hosts: CallbackHosts,
        signer: Signer,
        clock: Clock,
        warn: Callable[[str], None],
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.hosts = hosts
        self.signer = signer
        self._clock = clock
        self._warn = warn
        self._transport = transport
        self._lines: dict[tuple[str, str], _Line] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._client: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def open(self, unfinished: Iterable[TaskFeed]) -> AsyncIterator[None]:
        """Make callbacks, first for the tasks whose callbacks an earlier server has not made.

        Leaving gives those that are due three seconds.
        """
        async with open_client(
            _TERMS, timeout=_TIMEOUT_S, transport=self._transport
        ) as self._client:
            for feed in unfinished:
                self.begin(feed, None, feed.saved)
            try:
                yield
            finally:
                await self._finish()
                self._client = None

    @property
    def is_busy(self) -> bool:
        """Whether callbacks are under way."""
        return bool(self._workers)

    def mark(self, record: TaskRecord, event: JsonObject) -> bool:
        """Note in the task which callbacks are due for an event; whether any is."""
        wanted = [config for config in record.callbacks.values() if _wants(config, event)]
        for config in wanted:
            config[DUE] = True
        return bool(wanted)

    def begin(self, feed: TaskFeed, event: JsonObject | None, saved: int) -> None:
        """Make the callbacks that are due for an event, once its save has been written.

        Args:
            feed: the task.
            event: what has happened; `None`: callbacks of an earlier server.
            saved: the number of the save.
        """
        for config in feed.record.callbacks.values():
            if config.get(DUE) and (event is None or _wants(config, event)):
                whole = event is None or config.get(BEHIND)
                self._add(feed, config, _Due(None if whole else event, saved))

    def _add(self, feed: TaskFeed, config: JsonObject, due: _Due) -> None:
        key = (feed.record.id, config["id"])
        line = self._lines.get(key)
        if line is not None and line.is_wanted:
            if due.event is None and line.due and line.due[-1].event is None:
                line.due.pop()
            line.due.append(due)
            if len(line.due) > _MOST_WAITING:
                line.due = deque([_Due(None, due.saved)])
        elif self._client is not None:
            line = self._lines[key] = _Line(feed, config, deque([due]))
            worker = asyncio.create_task(self._serve(key, line), name="A2A callbacks")
            self._workers.add(worker)
            worker.add_done_callback(self._gone)

    def _gone(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        if not worker.cancelled() and worker.exception() is not None:
            self._warn(f"Callbacks have ended: {worker.exception()!r}")

    async def _finish(self) -> None:
        """Give what is due some time, and end the rest: it is made after the next start."""
        if not self._workers:
            return
        grace = asyncio.create_task(self._clock.sleep(_GRACE_MS), name="A2A grace")
        while self._workers and not grace.done():
            await asyncio.wait([grace, *self._workers], return_when=asyncio.FIRST_COMPLETED)
        left = [grace, *self._workers]
        for task in left:
            task.cancel()
        await asyncio.wait(left)

    async def _serve(self, key: tuple[str, str], line: _Line) -> None:
        """Deliver the events of a line one after the other."""
        config = line.config
        try:
            while line.due and line.is_wanted:
                due = line.due[0]
                failure = await self._deliver(line, due)
                if failure is not None:
                    # The next event brings the whole task.
                    config[BEHIND] = True
                    self._warn(f"A callback for task {line.feed.record.id} failed: {failure}")
                    break
                config.pop(BEHIND, None)
                if line.due and line.due[0] is due:
                    line.due.popleft()
            else:
                config.pop(DUE, None)
            line.feed.keep()
        finally:
            if self._lines.get(key) is line:
                del self._lines[key]

    async def _deliver(self, line: _Line, due: _Due) -> str | None:
        """Deliver an event; what has failed, or `None`."""
        delay_ms = _FIRST_DELAY_MS
        failure = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                await self._clock.sleep(delay_ms)
                delay_ms = min(2 * delay_ms, _LONGEST_DELAY_MS)
            if not line.is_wanted:
                return None
            try:
                await line.feed.safe(due.saved)
                async with self._slots:
                    status = await self._post(line, due.event)
            except (CallbackRefused, NetError) as error:
                return str(error)
            except (RpcError, httpx.HTTPError, OSError) as error:
                failure = str(error) or type(error).__name__
                continue
            if 200 <= status < 300:
                return None
            failure = f"the answer has the status {status}"
            if status < 500 and status not in _AGAIN:
                return failure
        return f"{failure}; given up after {_ATTEMPTS} attempts"

    async def _post(self, line: _Line, event: JsonObject | None) -> int:
        """Make one callback; return the status of the answer.

        Raises:
            CallbackRefused: the address may not be called.
            NetError: a request there is not allowed, or its answer is too large.
            httpx.HTTPError, OSError: no server answers.
        """
        assert self._client is not None
        config, record = line.config, line.feed.record
        body = encoded(_payload(record, config, event))
        address, host = await self.hosts.target(config["url"])
        named = httpx.URL(config["url"])
        signature = self.signer.signature(body, audience=config["url"], task_id=record.id)
        request = self._client.build_request(
            "POST",
            address,
            content=body,
            headers={
                "host": named.netloc.decode("ascii"),
                "content-type": "application/json",
                SIGNATURE_HEADER: signature,
                **_credentials(config, signature),
            },
            extensions={"sni_hostname": host},
        )
        with self._clock.real_work():
            response = await self._client.send(request, stream=True)
            await response.aclose()
        return response.status_code


def _wants(config: JsonObject, event: JsonObject) -> bool:
    """Whether a callback is due: in 0.3 it carries the task, so one for each turn is enough."""
    return config.get(PROTOCOL) != "0.3" or is_final(event)


def _payload(record: TaskRecord, config: JsonObject, event: JsonObject | None) -> JsonObject:
    task = record.shown(_SHOWN_MESSAGES)
    if config.get(PROTOCOL) == "0.3":
        return task
    return stream_response(task if event is None else event)


def _credentials(config: JsonObject, signature: str) -> dict[str, str]:
    """The headers by which the receiver knows that the callback is its own.

    The signature is the credential of a client that names none.
    """
    authentication = config.get("authentication") or {}
    scheme = next(iter(authentication.get("schemes") or ()), "Bearer")
    given = authentication.get("credentials")
    headers = {TOKEN_HEADER: config["token"]} if config.get("token") else {}
    if given:
        headers["authorization"] = f"{scheme} {given}"
    elif scheme.lower() == "bearer":
        headers["authorization"] = f"Bearer {signature}"
    return headers
