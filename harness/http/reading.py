"""What google-genai's client makes of an answer, by named rules, for the scripted side of a pair.

The same scenario run once over a socket and once from its script gives the same run only where the
script says what the client would have handed on. Each rule here rewrites a script's step into that
and says why the client may do so; whatever else comes out differently is a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from harness.cassette.format import Cassette
from services.clock import VirtualClock
from services.model.errors import ApiError, NetworkError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.generator import ReplayedContentGenerator, ReplayNote
from services.model.replay.matching import ObservedRequest
from services.model.replay.steps import ErrorSpec, ModelStep
from services.wire import Json, JsonObject

__all__ = ["READING_RULES", "ReadModel", "as_read", "read_source"]

_PART_FIELDS: Final = frozenset(
    {
        "audioTranscription",
        "codeExecutionResult",
        "executableCode",
        "fileData",
        "functionCall",
        "functionResponse",
        "inlineData",
        "mediaProcessing",
        "mediaResolution",
        "partMetadata",
        "speechMetadata",
        "text",
        "thought",
        "thoughtSignature",
        "toolCall",
        "toolResponse",
        "videoMetadata",
    }
)


_FREE: Final = frozenset({"args"})
"""Fields of any JSON at all."""


class _ErrorEvent(ErrorSpec):
    """An API error that arrives as an event of a stream that had begun."""

    def to_exception(self) -> ApiError | NetworkError:
        """As the client raises it: with words before the JSON."""
        error = super().to_exception()
        assert isinstance(error, ApiError)
        return ApiError(error.status, f"got status: {self.grpc}. {error.message}")


def nulls(step: ModelStep) -> ModelStep:
    """The client's objects cannot tell a field that is null from one that is not there.

    What a call's arguments hold is no field of the API's, and stays as it is.
    """
    return _rewritten(step, _without_nulls)


def unknown_parts(step: ModelStep) -> ModelStep:
    """The client hands on those fields of a part that it knows; the API may be newer than it."""
    return _rewritten(step, _with_known_fields)


def error_events(step: ModelStep) -> ModelStep:
    """An error in a stream that has begun is told with words before the response's JSON.

    Upstream's SDK does the same; a script's error is raised as a refused call's.
    """
    error = step.then_error
    if error is None or error.status is None:
        return step
    spoken = _ErrorEvent(
        message=error.message, status=error.status, grpc=error.grpc, details=error.details
    )
    return replace(step, then_error=spoken)


def resets(step: ModelStep) -> ModelStep:
    """A socket that is reset while the answer comes is told in one way, whatever the script says.

    The stand-in resets the connection, the one failure that it can cause by itself.
    """
    error = step.then_error
    if error is None or error.status is not None:
        return step
    reset = ErrorSpec(name="TypeError", message="terminated", code="ECONNRESET")
    return replace(step, then_error=reset)


READING_RULES: Final[tuple[Callable[[ModelStep], ModelStep], ...]] = (
    nulls,
    unknown_parts,
    error_events,
    resets,
)
"""Every rule, in the order of application. Its name is the function's, its reason the docstring."""


def as_read(step: ModelStep, fired: Counter[str] | None = None) -> ModelStep:
    """`step` as the client would hand it on; counts in `fired` the rules that changed it."""
    for rule in READING_RULES:
        changed = rule(step)
        if changed is not step and fired is not None and changed != step:
            fired[rule.__name__] += 1
        step = changed
    return step


def read_source(
    fired: Counter[str],
) -> Callable[
    [Cassette, VirtualClock, Callable[[ObservedRequest], None], Callable[[int, int], None]],
    ReadModel,
]:
    """A `ModelSource` of the runner: the cassette's own steps, as the client would hand them on."""

    def source(
        cassette: Cassette,
        clock: VirtualClock,
        on_request: Callable[[ObservedRequest], None],
        on_chunk: Callable[[int, int], None],
    ) -> ReadModel:
        steps = [as_read(step, fired) for step in cassette.steps]
        scripted = ReplayedContentGenerator(
            steps, clock=clock, match=cassette.match, on_request=on_request
        )
        return ReadModel(scripted, on_chunk)

    return source


class ReadModel:
    """A scripted model that ends its streams at an abort as a client does.

    A script goes on to the end of its answer, and leaves it to the runtime to stop listening; a
    client that is asked for the next chunk of an aborted request raises.
    """

    def __init__(
        self, scripted: ReplayedContentGenerator, on_chunk: Callable[[int, int], None]
    ) -> None:
        self._scripted = scripted
        self._on_chunk = on_chunk

    @property
    def notes(self) -> list[ReplayNote]:
        """Requests that no step fits."""
        return self._scripted.notes

    def unused_steps(self) -> list[int]:
        """Indices of the steps that nobody asked for, ascending."""
        return self._scripted.unused_steps()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Answer with one response."""
        return await self._scripted.generate_content(request)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Answer with a stream of chunks."""
        index = self._scripted.request_count
        return self._stream(index, request, await self._scripted.generate_content_stream(request))

    async def _stream(self, index: int, request: ModelRequest, stream: ChunkStream) -> ChunkStream:
        chunk_index = 0
        async with aclosing(stream):
            async for chunk in stream:
                yield chunk
                self._on_chunk(index, chunk_index)
                chunk_index += 1
                request.signal.raise_if_aborted()

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Answer with a number of tokens."""
        return await self._scripted.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Answer with embeddings."""
        return await self._scripted.embed_content(request)


def _rewritten(step: ModelStep, change: Callable[[JsonObject], JsonObject]) -> ModelStep:
    chunks = tuple(change(each) if isinstance(each, dict) else each for each in step.chunks)
    return replace(step, chunks=chunks, value=None if step.value is None else change(step.value))


def _without_nulls(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: item if key in _FREE else _without_nulls(item)
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _with_known_fields(response: JsonObject) -> JsonObject:
    candidates: Json = response.get("candidates")
    if not candidates:
        return response
    return {**response, "candidates": [_known_candidate(each) for each in candidates]}


def _known_candidate(candidate: JsonObject) -> JsonObject:
    content = candidate.get("content")
    if not isinstance(content, dict) or not content.get("parts"):
        return candidate
    parts = [
        {key: item for key, item in part.items() if key in _PART_FIELDS}
        for part in content["parts"]
    ]
    return {**candidate, "content": {**content, "parts": parts}}
