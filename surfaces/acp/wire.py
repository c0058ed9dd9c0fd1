"""The connection: lines of JSON in both directions, whatever the client sends.

`acp.connection.Connection` runs the requests. Lines that it could not take are answered here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from acp.agent.router import build_agent_router
from acp.connection import Connection
from acp.exceptions import RequestError
from acp.task import DefaultMessageDispatcher, MessageDispatcher
from acp.task.state import IncomingMessage, InMemoryMessageStateStore

from surfaces.acp.agent import AcpAgent
from surfaces.acp.client import Client

__all__ = ["CheckedLines", "claimed_output", "feed_lines", "serve"]

_LONGEST_LINE: Final = 256 * 1024 * 1024
_METHOD_NOT_FOUND: Final = -32601


class CheckedLines(asyncio.StreamReader):
    """Lines of JSON-RPC: `readline` returns the messages; other lines are answered."""

    def __init__(self, answer: Callable[[bytes], None]) -> None:
        super().__init__(limit=_LONGEST_LINE)
        self._answer = answer

    async def readline(self) -> bytes:
        """The next message; empty at the end of the input."""
        while True:
            try:
                line = await super().readline()
                if not line:
                    return b""
                if line.strip():
                    _check(line)
                    return line
            except ValueError as error:  # `readline` raises it for a line that is too long
                fault = RequestError.parse_error({"details": str(error)})
                self._answer(_error_line(fault))
            except RequestError as fault:
                self._answer(_error_line(fault))


def _check(line: bytes) -> None:
    """Refuse what is no JSON-RPC message.

    Raises:
        ValueError: it is no JSON.
        RequestError: it is JSON of another shape.
    """
    try:
        message = json.loads(line)
    except RecursionError:
        raise ValueError("the JSON has too many levels") from None
    if not isinstance(message, dict):
        raise RequestError.invalid_request({"details": "a message is one JSON object"})
    method = message.get("method")
    answers = "result" in message or "error" in message
    if not isinstance(method, str) and not ("id" in message and answers):
        raise RequestError.invalid_request({"details": "the message has no method, and no result"})
    error = message.get("error")
    if error is not None and not isinstance(error, dict):
        raise RequestError.invalid_request({"details": "error is no object"})
    if isinstance(message.get("id"), dict | list):
        raise RequestError.invalid_request({"details": "id is no text and no number"})


def _error_line(fault: RequestError) -> bytes:
    reply = {"jsonrpc": "2.0", "id": None, "error": fault.to_error_obj()}
    return json.dumps(reply).encode() + b"\n"


class _Requests(InMemoryMessageStateStore):
    """The open requests; unlike the package's store it keeps no ended ones."""

    def begin_incoming(self, method: str, params: Any) -> IncomingMessage:
        """Note a request of the client."""
        return IncomingMessage(method=method, params=None)


def _dispatcher(
    queue: Any, supervisor: Any, state: Any, run_request: Any, run_notification: Any
) -> MessageDispatcher:
    async def run(message: dict[str, Any]) -> Any:
        try:
            return await run_request(message)
        except RequestError:
            return None  # The client has it; the package would log it again.

    return DefaultMessageDispatcher(
        queue=queue,
        supervisor=supervisor,
        store=state,
        request_runner=run,
        notification_runner=run_notification,
    )


async def serve(
    make_agent: Callable[[Client], AcpAgent], lines: CheckedLines, writer: asyncio.StreamWriter
) -> None:
    """Answer the client until its input ends, then end its sessions."""
    routes: Callable[[str, Any, bool], Any] | None = None

    async def handle(method: str, params: Any, is_notification: bool) -> Any:
        assert routes is not None
        try:
            return await routes(method, params, is_notification)
        except RequestError as error:
            if error.code != _METHOD_NOT_FOUND:
                raise
            named = {"method": method}
            raise RequestError(error.code, f'"Method not found": {method}', named) from error

    connection = Connection(
        handle,
        writer,
        lines,
        listening=False,
        state_store=_Requests(),
        dispatcher_factory=_dispatcher,
    )
    agent = make_agent(Client(connection))
    routes = build_agent_router(agent, use_unstable_protocol=True)  # type: ignore[arg-type]
    # The package's `Agent` lists methods that this agent does not offer.
    try:
        await connection.main_loop()
    finally:
        await agent.close()
        await connection.close()


def feed_lines(source: BinaryIO, lines: CheckedLines) -> None:
    """Feed `lines` from a blocking stream, in a thread that ends with the process."""
    loop = asyncio.get_running_loop()
    # The interpreter closes its own standard input when it ends, and aborts if a thread reads it.
    own = os.fdopen(os.dup(source.fileno()), "rb")

    def feed() -> None:
        try:
            while line := own.readline():
                loop.call_soon_threadsafe(lines.feed_data, line)
        finally:
            loop.call_soon_threadsafe(lines.feed_eof)

    threading.Thread(target=feed, name="ACP input", daemon=True).start()


@contextmanager
def claimed_output() -> Iterator[BinaryIO]:
    """Standard output for messages alone: other prints go to standard error."""
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    before, sys.stdout = sys.stdout, sys.stderr
    try:
        with os.fdopen(own, "wb", buffering=0) as output:
            yield output
    finally:
        sys.stdout = before
