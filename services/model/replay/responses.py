"""Reads upstream's recorded `.responses` files, and replays them.

One JSON object `{method, response}` per line; blank lines do not count. The files have no requests,
roles or times.

Source: core `core/fakeContentGenerator.ts`, behind the flags `--fake-responses` and
`--fake-responses-non-strict`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.json_values import parse_json
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.generator import copy_json
from services.model.replay.response_shape import ResponseShapeError, check_response
from services.model.replay.steps import StepMethod
from services.regular_files import MOST_TEXT, read_regular
from services.wire import Json, JsonObject, js_json

__all__ = [
    "FakeResponsesError",
    "FakeResponsesGenerator",
    "RecordedResponse",
    "ResponsesFormatError",
    "parse_responses",
    "read_responses",
]


class ResponsesFormatError(ValueError):
    """A line that is not a recorded response. `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


class FakeResponsesError(Exception):
    """The file has no response for a request. The messages are upstream's."""

    name = "Error"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResponse:
    """One line of a file: a list of chunks for a stream, else one object. `line` counts from 1."""

    line: int
    method: StepMethod
    response: Json


def read_responses(path: Path) -> tuple[RecordedResponse, ...]:
    """Read a file.

    Raises:
        OSError: it cannot be read.
        ResponsesFormatError: it is not UTF-8, or a line is not a recorded response.
    """
    try:
        text = read_regular(path, MOST_TEXT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ResponsesFormatError(1, f"not UTF-8 (byte {error.start})") from error
    return parse_responses(text)


def parse_responses(text: str) -> tuple[RecordedResponse, ...]:
    """Read the lines of a file.

    Raises:
        ResponsesFormatError: with the line and what is wrong with it.
    """
    lines = enumerate(text.split("\n"), start=1)
    return tuple(_parse_line(number, line) for number, line in lines if line.strip())


def _parse_line(number: int, line: str) -> RecordedResponse:
    try:
        entry = parse_json(line, unique_keys=True)
    except ValueError as error:
        raise ResponsesFormatError(number, f"not JSON: {error}") from error
    if not isinstance(entry, dict):
        raise ResponsesFormatError(number, "must be an object {method, response}")
    try:
        method = StepMethod(entry.get("method", ""))
    except ValueError:
        known = ", ".join(StepMethod)
        problem = f"unknown method {entry.get('method')!r}; known: {known}"
        raise ResponsesFormatError(number, problem) from None
    response = entry.get("response")
    if method is StepMethod.STREAM:
        if not isinstance(response, list) or not all(isinstance(chunk, dict) for chunk in response):
            raise ResponsesFormatError(number, "the response of a stream is a list of objects")
    elif not isinstance(response, dict):
        raise ResponsesFormatError(number, f"the response of {method} is an object")
    chunks = response if method is StepMethod.STREAM else [response]
    try:
        for position, chunk in enumerate(chunks):
            check_response(chunk, f"response[{position}]" if chunks is response else "response")
    except ResponseShapeError as error:
        raise ResponsesFormatError(number, str(error)) from error
    return RecordedResponse(line=number, method=method, response=response)


class FakeResponsesGenerator:
    """A model that answers from a recorded file.

    Strict: each call takes the next line, and fails if that has another method. Otherwise a call
    takes the first unused line of its method.
    """

    def __init__(self, responses: Sequence[RecordedResponse], *, strict: bool = True) -> None:
        self._responses = list(responses)
        self._strict = strict
        self._cursor = 0

    @classmethod
    def from_file(cls, path: Path, *, strict: bool = True) -> FakeResponsesGenerator:
        """Read the file, with the errors of `read_responses`."""
        return cls(read_responses(path), strict=strict)

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Answer with the next response."""
        answer: JsonObject = self._next(StepMethod.GENERATE, request)
        return answer

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Answer with the next stream's chunks."""
        return _stream(self._next(StepMethod.STREAM, request))

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Answer with the next token count."""
        answer: JsonObject = self._next(StepMethod.COUNT_TOKENS, request)
        return answer

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Answer with the next embeddings."""
        answer: JsonObject = self._next(StepMethod.EMBED, request)
        return answer

    def _next(self, method: StepMethod, request: ModelRequest | EmbedRequest) -> Json:
        request.signal.raise_if_aborted()
        recorded = self._advance() if self._strict else self._first_of(method)
        if recorded is None:
            asked = _request_json(request)
            raise FakeResponsesError(f"No more mock responses for {method}, got request:\n{asked}")
        if recorded.method != method:
            raise FakeResponsesError(
                f"Unexpected response type, next response was for {recorded.method} "
                f"but expected {method}"
            )
        return copy_json(recorded.response)

    def _advance(self) -> RecordedResponse | None:
        position, self._cursor = self._cursor, self._cursor + 1
        return self._responses[position] if position < len(self._responses) else None

    def _first_of(self, method: StepMethod) -> RecordedResponse | None:
        for position, recorded in enumerate(self._responses):
            if recorded.method == method:
                return self._responses.pop(position)
        return None


async def _stream(chunks: list[JsonObject]) -> ChunkStream:
    for chunk in chunks:
        yield chunk
        await asyncio.sleep(0)


def _request_json(request: ModelRequest | EmbedRequest) -> str:
    asked: JsonObject = {"model": request.model, "contents": list(request.contents)}
    if isinstance(request, ModelRequest):
        asked["config"] = request.config
    return js_json(asked)
