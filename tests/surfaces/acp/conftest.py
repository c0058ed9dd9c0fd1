"""A client in the same process, in fresh folders, with recorded answers in place of a model."""

import asyncio
import contextlib
import itertools
import json
import socket
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from surfaces.acp.agent import AcpAgent
from surfaces.acp.wire import CheckedLines, serve
from surfaces.headless.options import HeadlessOptions
from tests.surfaces.headless.conftest import write_answers

Json = dict[str, Any]
Answer = Callable[[Json], Json | None]


class Peer:
    """The client: it sends lines, and keeps what it receives."""

    def __init__(self, lines: CheckedLines) -> None:
        self._lines = lines
        self._ids = itertools.count(1)
        self._waiting: dict[Any, asyncio.Future[Json]] = {}
        self._news = asyncio.Event()
        self.received: list[Json] = []
        self.answers: dict[str, Answer] = {}

    def send_line(self, line: str) -> None:
        self._lines.feed_data(f"{line}\n".encode())

    def hang_up(self) -> None:
        self._lines.feed_eof()

    def start(self, method: str, **params: Any) -> "asyncio.Future[Json]":
        number = next(self._ids)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.send_line(json.dumps(message))
        return self._waiting[number]

    async def call(self, method: str, **params: Any) -> Json:
        """The whole answer: with `result` or `error`."""
        return await self.start(method, **params)

    def notify(self, method: str, **params: Any) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    async def open(self, folder: Path, **more: Any) -> str:
        """Open a session; returns its id."""
        answer = await self.call("session/new", cwd=str(folder), mcpServers=[], **more)
        found: str = answer["result"]["sessionId"]
        return found

    async def prompt(self, session: str, text: str) -> Json:
        return await self.start_prompt(session, {"type": "text", "text": text})

    def start_prompt(self, session: str, *blocks: Json) -> "asyncio.Future[Json]":
        return self.start("session/prompt", sessionId=session, prompt=list(blocks))

    async def until(self, found: Callable[[Json], bool]) -> Json:
        """The first message, of those so far or to come, that is as asked for."""
        while True:
            for message in self.received:
                if found(message):
                    return message
            self._news.clear()
            await self._news.wait()

    def updates(self, kind: str) -> list[Json]:
        """The updates of one kind so far."""
        params = [message.get("params") or {} for message in self.received]
        found = [each["update"] for each in params if "update" in each]
        return [update for update in found if update["sessionUpdate"] == kind]

    def texts(self) -> list[str]:
        return [update["content"]["text"] for update in self.updates("agent_message_chunk")]

    def take(self, message: Json) -> None:
        self.received.append(message)
        self._news.set()
        if "method" not in message:
            waiting = self._waiting.pop(message["id"], None)
            if waiting is not None:
                waiting.set_result(message)
            return
        answer = self.answers.get(message["method"])
        reply = answer(message["params"]) if answer is not None and "id" in message else None
        if reply is not None:
            self.send_line(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}))


def asked(method: str) -> Callable[[Json], bool]:
    """Whether a message is this request."""
    return lambda message: message.get("method") == method


def chooses(option: str) -> Answer:
    """A client that chooses this option in every permission request."""
    return lambda _: {"result": {"outcome": {"outcome": "selected", "optionId": option}}}


Connect = Callable[..., contextlib.AbstractAsyncContextManager[Peer]]


@pytest.fixture
def connect(folders: Path) -> Connect:
    @contextlib.asynccontextmanager
    async def connected(
        *script: Any,
        runtime: str = "legacy",
        capabilities: Json | None = None,
        live: bool = False,
        **more: Any,
    ) -> AsyncIterator[Peer]:
        answers = write_answers(folders / "answers.jsonl", *script)
        options = HeadlessOptions(
            model="gemini-2.5-flash",
            runtime=runtime,
            fake_responses=None if live else answers,
            **more,
        )
        ours, theirs = socket.socketpair()
        # Both halves of both stay referenced: a stream that is collected closes its socket.
        reader, own_writer = await asyncio.open_connection(sock=ours)
        unread, writer = await asyncio.open_connection(sock=theirs)
        lines = CheckedLines(writer.write)
        peer = Peer(lines)

        async def receive() -> None:
            while line := await reader.readline():
                peer.take(json.loads(line))

        make = partial(AcpAgent, options, version="1", warn=lambda _: None)
        async with asyncio.TaskGroup() as group:
            receiving = group.create_task(receive())
            group.create_task(serve(make, lines, writer))
            abilities = capabilities or {}
            await peer.call("initialize", protocolVersion=1, clientCapabilities=abilities)
            yield peer
            peer.hang_up()
            receiving.cancel()
        for each in (own_writer, writer):
            each.close()
            await each.wait_closed()
        assert unread.exception() is None

    return connected
