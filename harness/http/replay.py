"""A recording behind the real client: google-genai, httpx and vcrpy, without a network.

`HttpReplayedGenerator` uses a `GeminiContentGenerator` whose HTTP client ends in a vcrpy cassette.
It covers what a scripted model skips: requests that the SDK accepts, event streams that it parses,
errors that it raises.

Matching goes by order and by kind of call (a stream, a count), never by body or model: the
runtimes write their own prompts and contents. The recorded answers call tools that the registry
does not have; the runtime reports such a tool as not found, and its next request gets the next
recorded answer. A call without a recorded answer gets 400 INVALID_ARGUMENT and a note, as in a
scripted replay. What the client sends is compared with the request of the runtime
(`harness.http.sent`); a difference is a note, as is an answer that nothing closes.

vcrpy keeps a response's body whole: a recorded stream arrives in one piece. The stand-in covers
what depends on the pieces of a stream.

vcrpy usually replaces httpx's transports for the whole process. Here its cassette has a transport
of its own, so that several replays can run at once and none reaches the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import httpx

from harness.http.exchanges import HttpRecording
from harness.http.sent import CALLS, sent_otherwise
from harness.replay.gemini_client import HEADERS, local_client, reported
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.generator import ReplayClock, ReplayNote
from services.model.replay.matching import ObservedRequest
from services.model.replay.steps import StepMethod
from services.wire import JsonObject, js_json

if TYPE_CHECKING:
    from vcr.cassette import Cassette

__all__ = ["HttpReplayedGenerator"]

_BASE: Final = "https://recording.invalid"
"""Not the API's own address: the client must use the one that it is given."""
_CALL = re.compile(r":(\w+)$")
_ASKED: Final[ContextVar[tuple[int, StepMethod, ModelRequest] | None]] = ContextVar("asked")
"""The request that the client is sending, and its index."""


class HttpReplayedGenerator:
    """Open a model that answers one run from `recording`; see the module.

    Each request takes 1 ms of virtual time. The hooks are those of
    `services.model.replay.generator.ReplayedContentGenerator`.
    """

    def __init__(
        self,
        recording: HttpRecording,
        *,
        clock: ReplayClock,
        on_request: Callable[[ObservedRequest], None] | None = None,
        on_chunk: Callable[[int, int], None] | None = None,
    ) -> None:
        self._recording = recording
        self._clock = clock
        self._on_request = on_request
        self._on_chunk = on_chunk
        self._requests = 0
        self._cassette = _cassette_of(recording)
        self._notes: list[ReplayNote] = []
        self._transport = _CassetteTransport(self._cassette, self._miss, self._compare)
        self._gemini = local_client(_BASE, clock, httpx.AsyncClient(transport=self._transport))

    @property
    def notes(self) -> list[ReplayNote]:
        """Requests without an answer, what the client sent otherwise, and answers left open."""
        open_ones = sum(not each.closed for each in self._transport.answers)
        if not open_ones:
            return self._notes
        message = f"{open_ones} of {len(self._transport.answers)} answers were never closed"
        left = ReplayNote(kind="left_open", request_index=self._requests - 1, message=message)
        return [*self._notes, left]

    def unused_steps(self) -> list[int]:
        """Return the indices of the exchanges that no request used, ascending."""
        count = len(self._recording.exchanges)
        return [index for index in range(count) if not self._cassette.play_counts[index]]

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Refuse: recorded whole responses are served as streams."""
        self._count(StepMethod.GENERATE, request)
        return await self._gemini.generate_content(request)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Request the next recorded response as a stream."""
        index = self._count(StepMethod.STREAM, request)
        stream = await self._gemini.generate_content_stream(request)
        return reported(stream, index, self._on_chunk)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Request the next recorded count."""
        self._count(StepMethod.COUNT_TOKENS, request)
        return await self._gemini.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Refuse: recordings contain no embeddings."""
        self._count(StepMethod.EMBED, request)
        return await self._gemini.embed_content(request)

    def _count(self, method: StepMethod, request: ModelRequest | EmbedRequest) -> int:
        request.signal.raise_if_aborted()
        index = self._requests
        self._requests += 1
        self._clock.advance(1)
        if self._on_request is not None:
            self._on_request(ObservedRequest(index=index, method=method, request=request))
        _ASKED.set((index, method, request) if isinstance(request, ModelRequest) else None)
        return index

    def _compare(self, sent: httpx.Request) -> None:
        """Note what the client sends otherwise than the runtime asked."""
        asked = _ASKED.get()
        if asked is None:
            return
        index, method, request = asked
        for difference in sent_otherwise(request, method, sent, _BASE, HEADERS):
            message = f"the client sent request {index} otherwise than asked: {difference}"
            self._notes.append(
                ReplayNote(kind="sent_otherwise", request_index=index, message=message)
            )

    def _miss(self, call: str) -> str:
        """Record a request without a response, and the nearest unused exchange."""
        index = self._requests - 1
        nearest = next(iter(self.unused_steps()), None)
        reason = "every exchange is used"
        differences: tuple[str, ...] = ()
        if nearest is not None:
            wire = CALLS[self._recording.exchanges[nearest].method].partition("?")[0]
            difference = f"method: the exchange answers {wire}, the request is {call}"
            reason = f"the nearest is exchange {nearest}: {difference}"
            differences = (difference,)
        message = f"no exchange of the recording is left for request {index} ({call}): {reason}"
        self._notes.append(
            ReplayNote(
                kind="unmatched_request",
                request_index=index,
                message=message,
                step_index=nearest,
                differences=differences,
            )
        )
        return message


def _cassette_of(recording: HttpRecording) -> Cassette:
    """Return the recording as a vcrpy cassette, which plays each exchange once and in order."""
    from vcr.cassette import Cassette
    from vcr.record_mode import RecordMode

    return Cassette.load(
        path=str(recording.file),
        persister=_Persister(recording),
        match_on=(_same_call,),
        record_mode=RecordMode.NONE,
    )


class _Persister:
    """Gives vcrpy the repaired exchanges instead of a file."""

    def __init__(self, recording: HttpRecording) -> None:
        self._recording = recording

    def load_cassette(self, path: str, serializer: Any) -> tuple[list[Any], list[Any]]:
        """Return requests and responses in vcrpy's form."""
        from vcr.request import Request

        requests, responses = [], []
        for exchange in self._recording.exchanges:
            uri = f"{_BASE}/v1beta/models/{exchange.model}:{CALLS[exchange.method]}"
            body = js_json(exchange.request).encode()
            requests.append(Request("POST", uri, body, {"content-type": ["application/json"]}))
            streams = exchange.method is StepMethod.STREAM and exchange.status == 200
            content_type = "text/event-stream" if streams else "application/json; charset=UTF-8"
            responses.append(
                {
                    "status": {"code": exchange.status, "message": exchange.reason},
                    "headers": {"content-type": [content_type]},
                    "body": {"string": exchange.body},
                }
            )
        return requests, responses

    def save_cassette(self, path: str, cassette: Any, serializer: Any) -> None:
        """Refuse: a replay records nothing."""
        raise RuntimeError("a replayed recording is read-only")


def _same_call(asked: Any, recorded: Any) -> bool:
    return _call_of(asked.parsed_uri.path) == _call_of(recorded.parsed_uri.path)


def _call_of(path: str) -> str:
    found = _CALL.search(path)
    return found[1] if found else path


class _Answer(httpx.ByteStream):
    """The body of an answer, which knows whether it was closed."""

    closed = False

    async def aclose(self) -> None:
        self.closed = True


class _CassetteTransport(httpx.AsyncBaseTransport):
    """Answers from a cassette and never from the network."""

    def __init__(
        self,
        cassette: Cassette,
        miss: Callable[[str], str],
        compare: Callable[[httpx.Request], None],
    ) -> None:
        self._cassette = cassette
        self._miss = miss
        self._compare = compare
        self.answers: list[_Answer] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Play the next exchange of the request's kind."""
        from vcr.errors import UnhandledHTTPRequestError
        from vcr.request import Request

        body = await request.aread()
        self._compare(request)
        asked = Request(request.method, str(request.url), body, request.headers)
        try:
            played = self._cassette.play_response(asked)
        except UnhandledHTTPRequestError:
            message = self._miss(_call_of(request.url.path))
            error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
            return httpx.Response(400, json={"error": error})
        headers = [(name, value) for name, values in played["headers"].items() for value in values]
        answer = _Answer(played["body"]["string"])
        self.answers.append(answer)
        return httpx.Response(played["status"]["code"], headers=headers, stream=answer)
