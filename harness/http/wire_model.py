"""A cassette's answers over a socket: the stand-in below, the real google-genai client above it.

It covers what a scripted model skips: requests that the SDK accepts, event streams that it parses
however they are cut, errors that it raises. The scripted model, which knows role and thread, still
chooses the step of a request and waits for its delays in virtual time; the request then names that
step to the stand-in.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Final

import httpx

from harness.cassette.format import Cassette
from harness.http.standin import STEP_HEADER, open_standin, stream_body
from harness.replay.gemini_client import local_client, reported
from harness.replay.models import ModelSource
from services.clock import VirtualClock
from services.model.gemini import GeminiContentGenerator
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.replay.generator import ReplayedContentGenerator, ReplayNote
from services.model.replay.matching import ObservedRequest
from services.model.replay.steps import ErrorSpec, ModelStep, StepKind, StepMethod
from services.providers.gemini.dialect import as_the_api_writes
from services.wire import Json, JsonObject

__all__ = ["open_wire", "wire_step"]

_TICKET: Final = "ticket"
_STEP: ContextVar[int | None] = ContextVar("wire_step", default=None)


def wire_step(step: ModelStep) -> JsonObject:
    """Return `step` as a step of the stand-in, whose chunks have no markers; it never hangs."""
    if step.error is not None:
        return {"error": _error(step.error)}
    if step.kind is StepKind.STREAM:
        found: JsonObject = {"stream": [as_the_api_writes(chunk) for chunk in step.chunks]}
        if step.then_error is not None:
            if step.then_error.status is not None:
                found["then_error"] = _error(step.then_error)
            else:
                found["reset_at"] = len(stream_body(found))
        return found
    return {str(step.kind): as_the_api_writes(step.value)}


def _error(error: ErrorSpec) -> JsonObject:
    details: Json = None if error.details is None else list(error.details)
    found = {"status": error.status, "message": error.message, "grpc": error.grpc}
    return {**found, "details": details}


@asynccontextmanager
async def open_wire(framed: Callable[[JsonObject], JsonObject]) -> AsyncIterator[ModelSource]:
    """Open a source of models that share a stand-in and a client; the exit closes both.

    `framed` receives every step of the stand-in, and returns it with its cuts.
    """
    async with (
        open_standin([]) as standin,
        httpx.AsyncClient(verify=False, event_hooks={"request": [_name_step]}) as http,  # noqa: S501 - plain http on the loopback interface
    ):

        def source(
            cassette: Cassette,
            clock: VirtualClock,
            on_request: Callable[[ObservedRequest], None],
            on_chunk: Callable[[int, int], None],
        ) -> WireModel:
            standin.steps[:] = [framed(wire_step(step)) for step in cassette.steps]
            gemini = local_client(standin.base_url, clock, http)
            return WireModel(
                cassette, clock=clock, gemini=gemini, on_request=on_request, on_chunk=on_chunk
            )

        yield source


async def _name_step(request: httpx.Request) -> None:
    step = _STEP.get()
    if step is not None:
        request.headers[STEP_HEADER] = str(step)


class WireModel:
    """The model of a run over the stand-in; see the module."""

    def __init__(
        self,
        cassette: Cassette,
        *,
        clock: VirtualClock,
        gemini: GeminiContentGenerator,
        on_request: Callable[[ObservedRequest], None],
        on_chunk: Callable[[int, int], None],
    ) -> None:
        self._gemini = gemini
        self._on_chunk = on_chunk
        self._tickets = ReplayedContentGenerator(
            [_ticket(place, step) for place, step in enumerate(cassette.steps)],
            clock=clock,
            match=cassette.match,
            on_request=on_request,
        )

    @property
    def notes(self) -> Sequence[ReplayNote]:
        """Requests that matched no step."""
        return self._tickets.notes

    def unused_steps(self) -> list[int]:
        """Indices of the steps that no request used, ascending."""
        return self._tickets.unused_steps()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Request a whole response."""
        _STEP.set(_number(await self._tickets.generate_content(request)))
        return await self._gemini.generate_content(request)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Request a stream of chunks."""
        index = self._tickets.request_count
        async with aclosing(await self._tickets.generate_content_stream(request)) as tickets:
            _STEP.set(_number(await anext(tickets)))
        stream = await self._gemini.generate_content_stream(request)
        return reported(stream, index, self._on_chunk)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Request a token count."""
        _STEP.set(_number(await self._tickets.count_tokens(request)))
        return await self._gemini.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Request embeddings."""
        _STEP.set(_number(await self._tickets.embed_content(request)))
        return await self._gemini.embed_content(request)


def _ticket(place: int, step: ModelStep) -> ModelStep:
    """Return `step` for the scripted model: matched and delayed alike, with its index as answer."""
    number = {_TICKET: place}
    plain = replace(step, error=None, then_error=None, chunks=(), value=None)
    if step.method is StepMethod.STREAM:
        return replace(plain, kind=StepKind.STREAM, chunks=(number,))
    return replace(plain, kind=StepKind.GENERATE, value=number)


def _number(ticket: Mapping[str, Json]) -> int:
    place: int = ticket[_TICKET]
    return place
