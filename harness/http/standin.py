"""A stand-in for the Gemini API on the loopback interface, for tests and for recording cassettes.

It speaks the paths `generateContent`, `streamGenerateContent?alt=sse`, `countTokens`,
`embedContent` and `batchEmbedContents` of `v1beta` (and Vertex AI's longer paths to the same
methods), answers from a list of steps in order, and breaks its answers in the ways a network does:
cut at any byte, reset, ended early, malformed. Its answers do not come from the API.

A step is a mapping with the keys of a cassette's model step:

    stream: [chunks]     an event stream; `then_error` appends an error event
    generate: response   one JSON body
    text: words          short for one chunk with that text and finish reason STOP
    count_tokens: {…}    the body of countTokens
    embed: {…}           the body of an embedding call
    error: {status, message, grpc?, details?}
    hang: true           accept the request and never answer

With any of them `delay_ms`; with streams also `cuts` (byte positions at which the body is sent in
separate pieces), `line_end` (default CR LF), `reset_at` or `end_at` (byte position
after which the connection is reset, or closed as if the body were whole), `raw` (the body as text)
and `hang_at` (position after which nothing more is sent until the client disconnects).

A request with the header `x-stand-in-step` is answered by the step of that number, from 0, instead
of the next one: so a retry cannot get the answer of the request that was given up.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from services.clock import Clock, SystemClock
from services.model.event_stream import event_stream
from services.net.loopback import serving, until_closed
from services.wire import Json, JsonObject, js_json

__all__ = ["STEP_HEADER", "StandIn", "StandInRequest", "open_standin", "stream_body"]

STEP_HEADER: Final = "x-stand-in-step"

_METHOD = re.compile(r"/models/(?P<model>[^/:]+):(?P<method>\w+)$")
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}
_MAX_BODY = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StandInRequest:
    """A received request. `headers` have lower-case names."""

    method: str
    """The API's method, such as `streamGenerateContent`; empty if the path names none."""
    model: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: JsonObject


@dataclass(slots=True)
class StandIn:
    """The server's script, and the received requests."""

    steps: list[Mapping[str, Json]]
    clock: Clock = field(default_factory=SystemClock)
    requests: list[StandInRequest] = field(default_factory=list)
    open_connections: int = 0
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client disconnected in the middle of an answer."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first request has arrived."""
    base_url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until either side closes it."""
        self.open_connections += 1
        try:
            while (request := await _read_request(reader)) is not None:
                self.requests.append(request)
                self.asked.set()
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.disconnected.set()
        finally:
            self.open_connections -= 1

    async def _answer(
        self,
        request: StandInRequest,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Answer with the next step; return false if the connection must be closed."""
        step = self._due(request)
        if step is None:
            error = {"status": 400, "message": "The stand-in has no more steps.", "grpc": "ABORTED"}
            return await _send_json(writer, 400, _error_body(error))
        if step.get("delay_ms"):
            await self.clock.sleep(step["delay_ms"])
        if step.get("hang"):
            return await self._wait_for_the_end(reader)
        if "error" in step:
            return await _send_json(writer, step["error"]["status"], _error_body(step["error"]))
        if request.method == "streamGenerateContent":
            return await self._stream(step, reader, writer)
        return await _send_json(writer, 200, _whole(step))

    def _due(self, request: StandInRequest) -> Mapping[str, Json] | None:
        named = request.headers.get(STEP_HEADER)
        if named is not None:
            return self.steps[int(named)]
        return self.steps.pop(0) if self.steps else None

    async def _stream(
        self,
        step: Mapping[str, Json],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        body = stream_body(step)
        end = min(step.get(key, len(body)) for key in ("reset_at", "end_at", "hang_at"))
        writer.write(_head(200, "text/event-stream", "Transfer-Encoding: chunked"))
        for piece in _pieces(body[:end], step.get("cuts", ())):
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            # The client often runs in this event loop: let it read each piece separately.
            await asyncio.sleep(0)
        if "reset_at" in step:
            _reset(writer)
            return False
        if "hang_at" in step:
            return await self._wait_for_the_end(reader)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _wait_for_the_end(self, reader: asyncio.StreamReader) -> bool:
        await until_closed(reader)
        self.disconnected.set()
        return False


@asynccontextmanager
async def open_standin(
    steps: Iterable[Mapping[str, Json]], *, clock: Clock | None = None
) -> AsyncIterator[StandIn]:
    """Serve `steps` on an ephemeral loopback port; leaving ends the server and its connections."""
    standin = StandIn(list(steps), clock or SystemClock())
    async with serving(standin.serve) as port:
        standin.base_url = f"http://127.0.0.1:{port}"
        yield standin


def stream_body(step: Mapping[str, Json]) -> bytes:
    """Return the whole event stream of a step; its `cuts` are offsets in it."""
    if "raw" in step:
        raw: str = step["raw"]
        return raw.encode()
    chunks = list(step["stream"]) if "stream" in step else [_whole(step)]
    if "then_error" in step:
        chunks.append(_error_body(step["then_error"]))
    return event_stream(chunks, step.get("line_end", "\r\n"))


def _whole(step: Mapping[str, Json]) -> JsonObject:
    for key in ("generate", "count_tokens", "embed"):
        if key in step:
            body: JsonObject = step[key]
            return body
    if "stream" in step:
        last: JsonObject = step["stream"][-1]
        return last
    content = {"role": "model", "parts": [{"text": step["text"]}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


def _error_body(error: Mapping[str, Json]) -> JsonObject:
    body: JsonObject = {"code": error["status"], "message": error["message"]}
    if error.get("grpc"):
        body["status"] = error["grpc"]
    if error.get("details"):
        body["details"] = error["details"]
    return {"error": body}


def _pieces(body: bytes, cuts: Sequence[int]) -> list[bytes]:
    borders = [0, *sorted({cut for cut in cuts if 0 < cut < len(body)}), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(borders) if end > start]


def _head(status: int, content_type: str, framing: str) -> bytes:
    reason = _REASONS.get(status, "Error")
    lines = [f"HTTP/1.1 {status} {reason}", f"Content-Type: {content_type}", framing]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


async def _send_json(writer: asyncio.StreamWriter, status: int, body: JsonObject) -> bool:
    text = js_json(body).encode()
    framing = f"Content-Length: {len(text)}"
    writer.write(_head(status, "application/json; charset=UTF-8", framing) + text)
    await writer.drain()
    return True


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the peer gets RST instead of FIN."""
    raw: socket.socket | None = writer.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _read_request(reader: asyncio.StreamReader) -> StandInRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, colon, value in (line.partition(":") for line in lines)
        if colon
    }
    length = int(headers.get("content-length", "0"))
    if length > _MAX_BODY:
        raise ConnectionError("request too long")
    body = await reader.readexactly(length) if length else b"{}"
    _, _, rest = first.partition(" ")
    target = rest.rpartition(" ")[0]
    path, _, query = target.partition("?")
    found = _METHOD.search(path)
    return StandInRequest(
        method=found["method"] if found else "",
        model=found["model"] if found else "",
        path=path,
        query=query,
        headers=headers,
        body=json.loads(body),
    )
