"""Hostile HTTP servers on a port of this machine, and the answers that they send."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

MIB = 1024 * 1024


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """One response: a body, or pieces of it without an end."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Callable[[], Iterator[bytes]] | None = None


@dataclass
class Server:
    """A server that runs, and what it was asked."""

    url: str
    asked: list[Asked] = field(default_factory=list)

    def seen(self, secret: str) -> bool:
        """Whether any request held `secret`."""
        return any(
            secret in str(asked.headers) or secret.encode() in asked.body or secret in asked.path
            for asked in self.asked
        )


@asynccontextmanager
async def serving(answer: Callable[[Asked], Answer]) -> AsyncIterator[Server]:
    """Serve one answer a connection; leaving ends the connections that are still open."""
    open_ones: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_ones.add(task)
        try:
            await _exchange(reader, writer, answer, server.asked)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client ended the connection, or the test is over
        finally:
            open_ones.discard(task)
            writer.close()

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    server = Server(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
    try:
        yield server
    finally:
        listening.close()
        for task in open_ones:
            task.cancel()
        if open_ones:
            await asyncio.wait(open_ones)


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Callable[[Asked], Answer],
    asked: list[Asked],
) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    one = Asked(method, path, headers, body)
    asked.append(one)
    given = answer(one)
    lines = [f"HTTP/1.1 {given.status} Said", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in given.headers.items()]
    if given.pieces is None:
        lines.append(f"Content-Length: {len(given.body)}")
    writer.write("\r\n".join([*lines, "", ""]).encode() + given.body)
    await writer.drain()
    for piece in given.pieces() if given.pieces is not None else ():
        writer.write(piece)
        await writer.drain()


def endless(piece: bytes) -> Callable[[], Iterator[bytes]]:
    """`piece` again and again, for as long as the client reads."""

    def pieces() -> Iterator[bytes]:
        while True:
            yield piece

    return pieces


@cache
def zeros(size: int, coding: str = "gzip") -> bytes:
    """`size` zeros, compressed a thousandfold; `gzip, gzip` compresses them twice."""
    wbits = {"deflate": 15, "raw deflate": -15}.get(coding, 31)
    made = zlib.compressobj(6, wbits=wbits)
    block = bytes(MIB)
    data = b"".join([*(made.compress(block) for _ in range(size // MIB)), made.flush()])
    if coding != "gzip, gzip":
        return data
    again = zlib.compressobj(6, wbits=31)
    return again.compress(data) + again.flush()


def bombs() -> dict[str, tuple[str, bytes]]:
    """Compressed answers by kind: the `content-encoding`, and at most some hundred KiB of body."""
    one = zeros(8 * MIB)
    return {
        "one gzip member": ("gzip", zeros(192 * MIB)),
        "many gzip members": ("x-gzip", one * 24),
        "deflate": ("deflate", zeros(192 * MIB, "deflate")),
        "deflate without a header": ("deflate", zeros(192 * MIB, "raw deflate")),
        "gzip in gzip": ("gzip, gzip", zeros(512 * MIB, "gzip, gzip")),
    }
