"""Records the requests to a model and its responses, as they arrive.

Source: the cassette format, "Model steps".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from harness.replay.observation import ObservedRequest, RunPaths
from harness.replay.request_log import RequestLog
from services.abort import AbortError
from services.model.errors import ApiError, error_name
from services.model.generator import ChunkStream, ContentGenerator, EmbedRequest, ModelRequest
from services.model.replay.generator import copy_json
from services.model.replay.steps import StepMethod
from services.wire import Json, JsonObject

__all__ = ["Tape", "TapedStep", "TapingContentGenerator", "error_document"]

_NOT_KEPT: Final = frozenset({"sdkHttpResponse"})
"""Keys of a response that are omitted: HTTP headers."""

_KEY_REFUSED: Final = frozenset({401, 403})
_BAD_KEY: Final = "API_KEY_INVALID"
"""The reason in the API's response with status 400."""


@dataclass(slots=True, kw_only=True)
class TapedStep:
    """One request, and the received part of its response."""

    method: StepMethod
    role: str | None
    thread: str
    chunks: list[JsonObject] = field(default_factory=list)
    value: JsonObject | None = None
    error: JsonObject | None = None
    then_error: JsonObject | None = None
    connected: bool = False
    """Whether a stream has begun."""
    interrupted: bool = False
    """Whether the caller stopped reading before the end."""

    def document(self) -> JsonObject:
        """Return the step as a cassette stores it."""
        step = self._answer()
        if self.role is not None:
            step["role"] = self.role
        if self.thread != "main":
            step["thread"] = self.thread
        return step

    def _answer(self) -> JsonObject:
        if self.method is StepMethod.STREAM and self.connected:
            rest: list[JsonObject] = [{"$hang": True}] if self.interrupted else []
            step: JsonObject = {"stream": [*self.chunks, *rest]}
            if self.then_error is not None:
                step["then_error"] = self.then_error
            return step
        if self.value is None:
            step = {"hang": True} if self.error is None else {"error": self.error}
            return step if self.method is StepMethod.STREAM else {**step, "method": self.method}
        if self.method is StepMethod.COUNT_TOKENS:
            return {"count_tokens": self.value}
        if self.method is StepMethod.EMBED:
            return {"generate": self.value, "method": str(self.method)}
        return {"generate": self.value}


def _is_answer(step: TapedStep) -> bool:
    """Return whether the API answered; a refused key or a lost connection is not an answer."""
    if step.chunks or step.error is None:
        return True
    status, said = step.error.get("status"), json.dumps(step.error)
    return status is not None and status not in _KEY_REFUSED and _BAD_KEY not in said


class Tape:
    """The steps of a run, in the order of the requests."""

    def __init__(self, paths: RunPaths) -> None:
        self.steps: list[TapedStep] = []
        self._log = RequestLog(paths)

    @property
    def requests(self) -> list[ObservedRequest]:
        """The requests, without embeddings."""
        return self._log.requests

    @property
    def answered(self) -> bool:
        """Whether the API answered any request, even with its own error."""
        return any(map(_is_answer, self.steps))

    def pending(self, index: int) -> TapedStep | None:
        """The step with that index, if the wait for its response was interrupted."""
        step = self.steps[index] if 0 <= index < len(self.steps) else None
        return step if step is not None and step.interrupted else None

    def asked(self, method: StepMethod, request: ModelRequest | EmbedRequest) -> TapedStep:
        """Add a step for a request that will be sent now."""
        if isinstance(request, EmbedRequest):
            step = TapedStep(method=method, role=None, thread="main")
        else:
            self._log.observe(str(method), request)
            step = TapedStep(method=method, role=str(request.role), thread=request.thread)
        self.steps.append(step)
        return step


class TapingContentGenerator:
    """Passes requests and responses through, and records them on a tape.

    Args:
        inner: Who answers.
        tape: Where it is kept.
    """

    def __init__(self, inner: ContentGenerator, tape: Tape) -> None:
        self._inner = inner
        self._tape = tape

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Send the request; record the response."""
        step = self._tape.asked(StepMethod.GENERATE, request)
        return await _whole(step, self._inner.generate_content(request))

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Open a stream; record each chunk as it arrives."""
        step = self._tape.asked(StepMethod.STREAM, request)
        with _Keeping(step):
            stream = await self._inner.generate_content_stream(request)
        step.connected = True
        return self._taped(step, stream)

    async def _taped(self, step: TapedStep, stream: ChunkStream) -> ChunkStream:
        async with aclosing(stream):
            chunks = aiter(stream)
            while True:
                # Only the wait for a chunk is recorded, not its processing by the caller.
                with _Keeping(step):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    return
                step.chunks.append(_kept(chunk))
                yield chunk

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Count tokens; record the count."""
        step = self._tape.asked(StepMethod.COUNT_TOKENS, request)
        return await _whole(step, self._inner.count_tokens(request))

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Embed contents; record the vectors."""
        step = self._tape.asked(StepMethod.EMBED, request)
        return await _whole(step, self._inner.embed_content(request))


async def _whole(step: TapedStep, answer: Awaitable[JsonObject]) -> JsonObject:
    with _Keeping(step):
        response = await answer
    step.value = _kept(response)
    return response


class _Keeping:
    """Records the exception that ended the wait for a response, if any."""

    def __init__(self, step: TapedStep) -> None:
        self._step = step

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (AbortError, asyncio.CancelledError)):
            self._step.interrupted = True
        elif isinstance(error, Exception):
            if self._step.connected:
                self._step.then_error = error_document(error)
            else:
                self._step.error = error_document(error)


def error_document(error: Exception) -> JsonObject:
    """Return an error as a cassette stores it; every error but the API's is a network error."""
    if isinstance(error, ApiError):
        return _api_error(error)
    document: JsonObject = {"name": error_name(error), "message": str(error)}
    code = getattr(error, "code", None)
    if isinstance(code, str):
        document["code"] = code
    cause = getattr(error, "cause", None)
    if isinstance(cause, Mapping):
        document["cause"] = dict(cause)
    elif isinstance(cause, BaseException):
        document["cause"] = error_document(cause) if isinstance(cause, Exception) else {}
    return document


def _api_error(error: ApiError) -> JsonObject:
    document: JsonObject = {"status": error.status, "message": str(error)}
    try:
        body = json.loads(str(error))["error"]
        message, code = body["message"], body.get("code")
    except (ValueError, TypeError, KeyError, AttributeError):
        return document
    if code != error.status or not isinstance(message, str):
        return document
    document["message"] = message
    if isinstance(body.get("status"), str):
        document["grpc"] = body["status"]
    details = body.get("details")
    if isinstance(details, list) and all(isinstance(detail, dict) for detail in details):
        document["details"] = details
    return document


def _kept(response: JsonObject) -> JsonObject:
    """Copy a response, since the caller adds the ids of calls in place."""
    copy: Json = copy_json({key: response[key] for key in response if key not in _NOT_KEPT})
    kept: JsonObject = copy
    return kept
