"""The server behind the HTTP addresses of a run: it answers with the steps of the section `http`.

It listens on the loopback address, on a port that the system chooses, so that every product sends
its requests with its real client. `<PORT>` in the cassette is that port, and stands for it in
everything that is observed.

A request takes the first unused step that fits its method, address, JSON-RPC method and headers. A
request without a step gets the answer 501, and a note.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, Literal

import h11

from harness.cassette.format import HttpAnswer, HttpStep
from services.json_values import parse_json
from services.net.loopback import LoopbackRequest, next_request, serving, until_closed
from services.wire import Json, JsonObject, js_json

__all__ = ["HTTP_CHANNEL", "HttpServer", "open_http_server"]

HTTP_CHANNEL: Final = "http"
"""The name of the requests among an observation's custom items."""

_NOWHERE: Final = 9
"""The port that stands for `<PORT>` where no server may be opened: the discard service's."""
_REASONS: Final = {status.value: status.phrase.encode() for status in HTTPStatus}
_OF_THE_CLIENT: Final = frozenset(
    {
        "a2a-version",
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "sec-fetch-mode",
        "transfer-encoding",
        "user-agent",
    }
)
"""Headers that each product's HTTP client chooses; not observed."""


class _Cut(Exception):
    """The cassette ends the connection."""


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    target: str
    headers: Mapping[str, str]
    body: Json
    """Parsed if it is JSON, else its text."""

    @property
    def rpc(self) -> JsonObject:
        """The call of JSON-RPC; empty if it is none."""
        return self.body if isinstance(self.body, dict) else {}


@dataclass(slots=True)
class HttpServer:
    """The steps of one run, and what was asked."""

    steps: Sequence[HttpStep]
    port: int | None = None
    """What `<PORT>` in the cassette is; `None` without a section `http`."""
    on_request: Callable[[int], None] = lambda _: None
    """Called with the number of each request, from 0, when it has arrived."""
    _asked: list[_Request] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)
    _refused: list[str] = field(default_factory=list)

    @property
    def masks(self) -> Mapping[str, str]:
        """What stands for the address's end in observations."""
        return {} if self.port is None else {f":{self.port}": ":<PORT>"}

    @property
    def notes(self) -> list[str]:
        """A note for each request without a step, then for each step that had to be used."""
        left = (
            f"{step.place} ({step.method} {step.target}) was not asked for"
            for number, step in enumerate(self.steps)
            if number not in self._used and not step.optional
        )
        return [*sorted(self._refused), *left]

    def observed(self) -> Mapping[str, Sequence[JsonObject]]:
        """Return the requests as items of a custom channel; nothing without a section `http`.

        They are sorted by address, because agents that work at the same time ask in any order.
        Ids that each client chooses are replaced by their number.
        """
        if not self.steps:
            return {}
        messages: dict[str, str] = {}
        asked = sorted(self._asked, key=lambda each: each.target)
        return {HTTP_CHANNEL: [_item(each, messages) for each in asked]}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until either side closes it."""
        connection = h11.Connection(h11.SERVER)
        try:
            while (arrived := await next_request(connection, reader)) is not None:
                request = _request(arrived)
                self._asked.append(request)
                self.on_request(len(self._asked) - 1)
                await self._answer(request, connection, reader, writer)
                if connection.our_state is h11.MUST_CLOSE:
                    break
                connection.start_next_cycle()
        except (_Cut, ConnectionError, h11.ProtocolError):
            writer.transport.abort()

    async def _answer(
        self,
        request: _Request,
        connection: h11.Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        async def send(event: h11.Event) -> None:
            writer.write(connection.send(event) or b"")
            await writer.drain()
            # The client may run in this event loop: let it read each piece separately.
            await asyncio.sleep(0)

        step = self._due(request)
        for piece in _UNKNOWN if step is None else _answer_of(step, request.rpc.get("id")):
            if isinstance(piece, h11.Event):
                await send(piece)
            else:
                if piece is HttpAnswer.HANG:
                    await until_closed(reader)
                raise _Cut
        await send(h11.EndOfMessage())

    def _due(self, request: _Request) -> HttpStep | None:
        for number, step in enumerate(self.steps):
            if number not in self._used and _fits(step, request):
                self._used.add(number)
                return step
        self._refused.append(f"no step of http fits {request.method} {_called(request)}")
        return None


@asynccontextmanager
async def open_http_server(
    steps: Sequence[HttpStep], *, closed: bool = False
) -> AsyncIterator[HttpServer]:
    """Serve the steps of one run; leaving ends the server and its connections.

    Args:
        steps: The section `http`. Without steps there is no server.
        closed: Whether the run may not connect to anything, so that there is no server, either.
    """
    server = HttpServer(steps)
    if not steps or closed:
        server.port = _NOWHERE if steps else None
        yield server
        return
    async with serving(server.serve) as server.port:
        yield server


def _request(arrived: LoopbackRequest) -> _Request:
    return _Request(arrived.method, arrived.target, arrived.headers, _parsed(arrived.body))


def _parsed(body: bytes) -> Json:
    text = body.decode("utf-8", "replace")
    try:
        return parse_json(text)
    except ValueError:
        return text


def _fits(step: HttpStep, request: _Request) -> bool:
    return (
        (step.method, step.target) == (request.method, request.target)
        and step.rpc in (None, request.rpc.get("method"))
        and all(request.headers.get(name) == value for name, value in step.sent.items())
    )


def _called(request: _Request) -> str:
    method = request.rpc.get("method")
    return f"{request.target} {method}" if isinstance(method, str) else request.target


def _head(status: int, headers: Mapping[str, str], content_type: str) -> h11.Response:
    given = [*headers.items()]
    if "content-type" not in map(str.lower, headers):
        given.append(("Content-Type", content_type))
    return h11.Response(status_code=status, headers=given, reason=_REASONS.get(status, b""))


_Pieces = list[h11.Event | Literal[HttpAnswer.HANG, HttpAnswer.CUT]]
"""An answer: what is sent, and where the connection hangs or ends."""
_UNKNOWN: Final[_Pieces] = [
    _head(501, {}, "text/plain"),
    h11.Data(data=b"The cassette has no answer to this request."),
]


def _answer_of(step: HttpStep, request_id: Json) -> _Pieces:
    def answer(content_type: str, *pieces: bytes) -> _Pieces:
        head = _head(step.status, step.headers, content_type)
        return [head, *(h11.Data(data=piece) for piece in pieces)]

    match step.answer:
        case HttpAnswer.HANG | HttpAnswer.CUT:
            return [step.answer]
        case HttpAnswer.STREAM:
            return [
                *answer("text/event-stream"),
                *(_piece(p, step, request_id) for p in step.value),
            ]
        case HttpAnswer.TEXT:
            return answer("text/plain", step.value.encode())
        case HttpAnswer.RESULT | HttpAnswer.ERROR:
            body = _rpc(request_id, step.answer.value, step.value)
        case _:
            body = step.value
    return answer("application/json", js_json(body).encode())


def _piece(
    piece: JsonObject, step: HttpStep, request_id: Json
) -> h11.Data | Literal[HttpAnswer.HANG, HttpAnswer.CUT]:
    if "$hang" in piece:
        return HttpAnswer.HANG
    if "$cut" in piece:
        return HttpAnswer.CUT
    if "$raw" in piece:
        raw: str = piece["$raw"]
        return h11.Data(data=raw.encode())
    if "$error" in piece:
        data = _rpc(request_id, "error", piece["$error"])
    else:
        data = piece if step.rpc is None else _rpc(request_id, "result", piece)
    return h11.Data(data=f"data: {js_json(data)}\n\n".encode())


def _rpc(request_id: Json, key: str, value: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, key: value}


def _item(request: _Request, messages: dict[str, str]) -> JsonObject:
    """Return a request as it is observed; `messages` has the numbers of the messages so far."""
    headers = {name: value for name, value in request.headers.items() if name not in _OF_THE_CLIENT}
    body = request.body
    if isinstance(body, dict):
        if "jsonrpc" in body:
            body = {**body, "id": "<id>"}
        body = _numbered(body, messages)
    return {"request": f"{request.method} {request.target}", "headers": headers, "body": body}


def _numbered(value: JsonObject, messages: dict[str, str]) -> JsonObject:
    """Replace the ids of messages in a call by their numbers."""
    found = dict(value)
    if isinstance(found.get("params"), dict):
        found["params"] = _numbered(found["params"], messages)
    message = found.get("message")
    if isinstance(message, dict) and isinstance(message.get("messageId"), str):
        number = messages.setdefault(message["messageId"], f"<message {len(messages)}>")
        found["message"] = {**message, "messageId": number}
    return found
