"""`ReplayedContentGenerator`: a model that answers from a script, in virtual time.

Source: the cassette format, "Model steps".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from services.abort import AbortError, AbortSignal
from services.clock import Clock, sleep_or_abort
from services.model.errors import ApiError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.matching import MatchMode, Miss, ObservedRequest, StepQueue
from services.model.replay.steps import Hang, ModelStep, Sleep, StepKind, StepMethod
from services.wire import Json, JsonObject

__all__ = ["ObservedRequest", "ReplayClock", "ReplayNote", "ReplayedContentGenerator", "copy_json"]


class ReplayClock(Clock, Protocol):
    """A clock that can be moved: `VirtualClock`."""

    def advance(self, delta_ms: float) -> None:
        """Advance time; tasks wake when the loop is idle."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayNote:
    """A deviation from the script.

    `step_index` is the nearest step, `differences` are its mismatches with the request.
    """

    kind: Literal["unmatched_request", "sent_otherwise", "left_open"]
    request_index: int
    message: str
    step_index: int | None = None
    differences: tuple[str, ...] = ()


def copy_json(value: Json) -> Json:
    """Return a deep copy of JSON, ten times as fast as `copy.deepcopy`."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    return value


class ReplayedContentGenerator:
    """Answers model requests with the steps of a cassette.

    Each request advances time by 1 ms, so that ids made from the clock differ. A request without a
    matching step gets 400 INVALID_ARGUMENT and a note in `notes`. Responses are copies, because
    runtimes write ids into function calls.
    """

    def __init__(
        self,
        steps: Sequence[ModelStep],
        *,
        clock: ReplayClock,
        match: MatchMode = "in_order",
        on_request: Callable[[ObservedRequest], None] | None = None,
        on_chunk: Callable[[int, int], None] | None = None,
    ) -> None:
        """Prepare to answer.

        Args:
            steps: The script; indices must be unique.
            clock: Virtual time.
            match: How a request finds its step.
            on_request: Called with each request, before its step is searched.
            on_chunk: Called with the request's and the chunk's index, both from 0, when the
                consumer asks for the next chunk. Markers such as `{$sleep: …}` do not count.
        """
        self._queue = StepQueue(steps, match)
        self._clock = clock
        self._on_request = on_request
        self._on_chunk = on_chunk
        self._requests = 0
        self.notes: list[ReplayNote] = []

    @property
    def request_count(self) -> int:
        """How many requests have been made."""
        return self._requests

    def unused_steps(self) -> list[int]:
        """The indices of unused steps, ascending."""
        return self._queue.unused()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Answer with one response."""
        _, step = await self._answer(StepMethod.GENERATE, request)
        return _value(step)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Answer with a stream of chunks."""
        index, step = await self._answer(StepMethod.STREAM, request)
        return self._stream(index, step, request.signal)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Answer with a number of tokens."""
        _, step = await self._answer(StepMethod.COUNT_TOKENS, request)
        return _value(step)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Answer with embeddings."""
        _, step = await self._answer(StepMethod.EMBED, request)
        return _value(step)

    async def _answer(
        self, method: StepMethod, request: ModelRequest | EmbedRequest
    ) -> tuple[int, ModelStep]:
        """Find the step and replay its delay and error."""
        signal = request.signal
        aborted = signal.aborted  # asked for in vain: seen, and no step is used up
        observed = ObservedRequest(index=self._requests, method=method, request=request)
        self._requests += 1
        self._clock.advance(1)
        if self._on_request is not None:
            self._on_request(observed)
        if aborted:
            raise AbortError
        step = self._queue.take(observed)
        if isinstance(step, Miss):
            refusal = self._unmatched(observed, step)
            signal.raise_if_aborted()
            raise refusal
        if step.delay_ms > 0:
            await sleep_or_abort(self._clock, step.delay_ms, signal)
        else:
            await asyncio.sleep(0)  # even an answer without delay takes a turn of the loop
            signal.raise_if_aborted()
        if step.kind is StepKind.HANG:
            await _hang(signal)
        if step.error is not None:
            raise step.error.to_exception()
        return observed.index, step

    async def _stream(
        self, request_index: int, step: ModelStep, signal: AbortSignal
    ) -> ChunkStream:
        chunk_index = 0
        for chunk in step.chunks:
            if isinstance(chunk, Hang):
                await _hang(signal)
            elif isinstance(chunk, Sleep):
                await sleep_or_abort(self._clock, chunk.ms, signal)
            else:
                yield copy_json(chunk)
                if self._on_chunk is not None:
                    self._on_chunk(request_index, chunk_index)
                chunk_index += 1
                await asyncio.sleep(0)
        if step.then_error is not None:
            raise step.then_error.to_exception()

    def _unmatched(self, request: ObservedRequest, miss: Miss) -> ApiError:
        asked = f"request {request.index} ({request.method}"
        asked += f", role {request.role})" if request.role is not None else ")"
        if miss.step is None:
            reason = "every step is used"
        else:
            reason = f"the nearest is step {miss.step.index}: {'; '.join(miss.differences)}"
        message = f"no step of the cassette answers {asked}: {reason}"
        self.notes.append(
            ReplayNote(
                kind="unmatched_request",
                request_index=request.index,
                message=message,
                step_index=None if miss.step is None else miss.step.index,
                differences=miss.differences,
            )
        )
        return ApiError.from_parts(400, message, "INVALID_ARGUMENT")


async def _hang(signal: AbortSignal) -> None:
    await signal.wait()
    raise AbortError


def _value(step: ModelStep) -> JsonObject:
    answer: JsonObject = copy_json(step.value)
    return answer
