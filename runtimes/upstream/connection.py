"""`Connection`: one session's conversation with a `DriverProcess`, in the running event loop.

Messages are JSON objects, one a line; `driver/channel.mjs` describes the pipes. Virtual time stands
still while the driver works. It passes once the driver reports that it is idle and has received
every message.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final

from runtimes.contract import CommandFailed
from runtimes.upstream.process import DriverBroken, DriverProcess
from services.clock import Clock
from services.wire import JsonObject

__all__ = ["Connection", "Handler"]

_log = logging.getLogger(__name__)

_BLOCK: Final = 1 << 18
_LONGEST_LINE: Final = 256 << 20
"""Bytes. A request of the largest context there is takes a small part of it."""

Handler = Callable[[JsonObject], None]
"""Handles one message of the driver. Called in order, in the event loop, never re-entered."""


class Connection:
    """Sends commands and receives messages. Use it in one loop, and `detach` it there.

    `handlers` are by the messages' `t`. A message that carries `reply` is answered when its handler
    has returned. The answer carries the commands given meanwhile, which the driver performs before
    it goes on.
    """

    def __init__(self, process: DriverProcess, clock: Clock) -> None:
        self._process = process
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._hold = ExitStack()
        self._held = False
        self._received = bytearray()
        self._lines: deque[bytes] = deque()
        self._paused = False
        self._unsent = {process.inbox: bytearray(), process.replies: bytearray()}
        self._next = 0
        self._results: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._with_reply: list[JsonObject] | None = None
        self._idle = asyncio.Event()
        self.broken: asyncio.Future[DriverBroken] = self._loop.create_future()
        """Done when the driver cannot be used any more."""
        self.handlers: dict[str, Handler] = {
            "idle": self._on_idle,
            "done": self._on_done,
            "failed": self._on_failed,
        }
        self._loop.add_reader(process.outbox, self._read)

    def detach(self) -> None:
        """Leave the loop; the process may be attached to another one."""
        if self._process.outbox >= 0:
            self._loop.remove_reader(self._process.outbox)
            for descriptor in self._unsent:
                self._loop.remove_writer(descriptor)
        self._lines.clear()
        self._release()
        for _, result in self._results.values():
            result.cancel()
        self._results.clear()

    def send(self, message: JsonObject) -> None:
        """Send a message that has no answer."""
        self._process.sent += 1
        self._busy()
        self._write(self._process.inbox, {"now": self._clock.now_ms(), **message})

    def command(self, name: str, **arguments: Any) -> asyncio.Future[Any]:
        """Give a command; the future holds its result.

        Raises (through the future):
            CommandFailed: the core refused it.
            DriverBroken: the driver is gone.
        """
        self._next += 1
        result: asyncio.Future[Any] = self._loop.create_future()
        if self.broken.done():
            result.set_exception(self.broken.result())
            return result
        self._results[self._next] = name, result
        message = {"t": name, "id": self._next, **arguments}
        if self._with_reply is not None:
            self._with_reply.append(message)
        else:
            self.send(message)
        return result

    def order(self, name: str, **arguments: Any) -> None:
        """Give a command without waiting for its result.

        The core has no reason to refuse such a command. A refusal breaks the session, whose state
        is then unknown.
        """

        def check(result: asyncio.Future[Any]) -> None:
            problem = None if result.cancelled() else result.exception()
            if isinstance(problem, CommandFailed):
                self.fail(f"the core refused a command that it never should: {problem}")

        self.command(name, **arguments).add_done_callback(check)

    async def until_idle(self) -> None:
        """Return once the driver is idle.

        Raises:
            DriverBroken: it is gone.
        """
        waiting = self._loop.create_task(self._idle.wait())
        either: set[asyncio.Future[Any]] = {waiting, self.broken}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            await asyncio.wait({waiting})
        if self.broken.done():
            raise self.broken.result()

    def fail(self, problem: str) -> None:
        """Give the driver up. Every pending command and `broken` get the error."""
        if self.broken.done():
            return
        tail = self._process.error_tail()
        error = DriverBroken(f"{problem}; its last words: {tail}" if tail else problem)
        self.broken.set_result(error)
        self._release()
        for _, result in self._results.values():
            if not result.done():
                result.set_exception(error)
                result.exception()  # counts as retrieved: a caller may drop the future
        self._results.clear()

    def _read(self) -> None:
        try:
            block = os.read(self._process.outbox, _BLOCK)
        except BlockingIOError:
            return
        if not block:
            self._loop.remove_reader(self._process.outbox)
            self.fail(f"the driver {self._process.ended()}")
            return
        self._received += block
        if b"\n" in block:
            *lines, rest = bytes(self._received).split(b"\n")
            self._received = bytearray(rest)
            self._lines += lines
        if len(self._received) > _LONGEST_LINE:
            self.fail(f"the driver wrote a line of more than {_LONGEST_LINE >> 20} MiB")
        elif not self._paused:
            self._dispatch()

    def _dispatch(self) -> None:
        """Handle the received lines. Callers get a result before the next line is handled."""
        self._paused = False
        while self._lines and not self._paused and not self.broken.done():
            line = self._lines.popleft()
            try:
                self._handle(self._parsed(line))
            except Exception as problem:  # noqa: BLE001 - a border: the driver may send anything
                _log.debug("a message of the driver cannot be handled", exc_info=problem)
                shown = line[:200].decode("utf-8", "replace")
                why = f"{type(problem).__name__}: {problem}"
                self.fail(f"the driver wrote what is not of its protocol: {shown!r} ({why})")

    def _parsed(self, line: bytes) -> JsonObject:
        message = json.loads(line)
        if isinstance(message, dict) and message.get("t") in self.handlers:
            return message
        raise ValueError("no message of a known kind")

    def _handle(self, message: JsonObject) -> None:
        kind = message["t"]
        if kind != "idle":
            self._busy()
        if message.get("reply"):
            self._with_reply = []
            # Tasks that the handler starts take their first step before the answer goes out.
            self._pause(then=self._answer_call)
        elif kind in ("done", "failed"):
            self._pause(then=self._dispatch)
        self.handlers[kind](message)

    def _pause(self, *, then: Callable[[], None]) -> None:
        self._paused = True
        self._loop.call_soon(self._loop.call_soon, then)

    def _answer_call(self) -> None:
        commands, self._with_reply = self._with_reply, None
        self._write(
            self._process.replies, {"now": self._clock.now_ms(), "commands": commands or []}
        )
        self._dispatch()

    def _on_idle(self, message: JsonObject) -> None:
        if message.get("received") == self._process.sent:
            self._release()
            self._idle.set()

    def _on_done(self, message: JsonObject) -> None:
        _, result = self._result_of(message)
        if not result.done():
            result.set_result(message.get("value"))

    def _on_failed(self, message: JsonObject) -> None:
        name, result = self._result_of(message)
        if not result.done():
            error, text = str(message.get("name")), str(message.get("message"))
            result.set_exception(CommandFailed(name, error, text))

    def _result_of(self, message: JsonObject) -> tuple[str, asyncio.Future[Any]]:
        found = self._results.pop(int(message.get("id") or 0), None)
        return found if found is not None else ("", self._loop.create_future())

    def _write(self, descriptor: int, message: Mapping[str, Any]) -> None:
        if self.broken.done() or descriptor < 0:
            return
        self._unsent[descriptor] += json.dumps(message, separators=(",", ":")).encode() + b"\n"
        self._flush(descriptor)

    def _flush(self, descriptor: int) -> None:
        waiting = self._unsent[descriptor]
        try:
            while waiting:
                del waiting[: os.write(descriptor, waiting)]
        except BlockingIOError:
            self._loop.add_writer(descriptor, self._flush, descriptor)
            return
        except BrokenPipeError:
            waiting.clear()  # `_read` reports the end of the driver.
        self._loop.remove_writer(descriptor)

    def _busy(self) -> None:
        self._idle.clear()
        if not self._held and not self.broken.done():
            self._held = True
            self._hold.enter_context(self._clock.real_work())

    def _release(self) -> None:
        if self._held:
            self._held = False
            self._hold.close()
