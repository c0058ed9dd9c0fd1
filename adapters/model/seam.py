"""`ModelSeam`: answers the HTTP requests of an agent's client with the model of the services.

The client stays as it is, and so does the agent's code. What the services do for an answer happens
in their own context, not in the agent's: see `adapters.crossing`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import aclosing
from contextvars import Context, copy_context
from functools import partial
from typing import Any, Final, TypeVar

from adapters.crossing import Crossing
from services.abort import AbortController
from services.model.errors import NetworkError
from services.model.generator import (
    ChunkStream,
    ContentGenerator,
    EmbedRequest,
    LlmRole,
    ModelRequest,
)
from services.model.replay.steps import StepMethod
from services.providers.dialect import WireCall
from services.providers.wire.server import WireAnswer, WireServer
from services.wire import JsonObject

__all__ = ["ModelSeam"]

_PROMPT: Final = "agent"
"""The prompt id of every request: an agent of a user has none."""

T = TypeVar("T")


def _described(call: WireCall) -> ModelRequest:
    """Return the request of the main agent; the settings say where it wants no stream."""
    config = dict(call.asked.config)
    if call.method is StepMethod.GENERATE:
        config["stream"] = False
    return ModelRequest(
        model=call.asked.model,
        contents=call.asked.contents,
        role=LlmRole.MAIN,
        prompt_id=_PROMPT,
        signal=AbortController().signal,
        config=config,
    )


class ModelSeam:
    """Answers the calls of one conversation.

    `server` answers them for code that awaits; `answer_now` for code that cannot.
    """

    def __init__(self, generator: ContentGenerator) -> None:
        outside = copy_context()
        self._outside = outside
        self._elsewhere = _Elsewhere(generator, outside)
        self.server = WireServer(self._elsewhere, described=_described)
        self._here = WireServer(generator, described=_described)
        self._left: list[_Rest] = []

    def answer_now(self, method: str, url: str, body: bytes) -> WireAnswer:
        """Answer a request without waiting, for a client that blocks the event loop.

        Raises:
            NetworkError: the answer waits for something, or the generator raised it.
        """
        work, context = self._whole(method, url, body), self._outside.copy()
        try:
            while (pending := context.run(work.send, None)) is None:
                pass  # `asyncio.sleep(0)` hands over nothing; anything else waits
        except StopIteration as done:
            found: WireAnswer = done.value
            return found
        self._left.append(_Rest(work, pending, context))
        raise NetworkError(
            "a synchronous client in the event loop cannot wait for this answer; call it in a "
            "thread (asyncio.to_thread), or use the asynchronous client"
        )

    async def _whole(self, method: str, url: str, body: bytes) -> WireAnswer:
        return await (await self._here.answer(method, url, body)).collected()

    async def close(self) -> None:
        """End the answers that the agent did not read to their end."""
        await self._elsewhere.close()
        for rest in self._left:
            await rest.cancelled()


class _Elsewhere:
    """A generator that is called in another context, that of the services."""

    def __init__(self, generator: ContentGenerator, context: Context) -> None:
        self._generator = generator
        self._context = context
        self._open: dict[Crossing[JsonObject | None], ChunkStream] = {}
        """What is not closed. A stream that a client drops stays here until the end."""

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """See `ContentGenerator`."""
        return await self._called(self._generator.generate_content(request))

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """See `ContentGenerator`."""
        return await self._called(self._generator.count_tokens(request))

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """See `ContentGenerator`."""
        return await self._called(self._generator.embed_content(request))

    async def _called(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.get_running_loop().create_task(work, context=self._context.copy())

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """See `ContentGenerator`."""
        chunks = Crossing(self._chunks(request), context=self._context.copy())
        self._open[chunks] = stream = self._stream(chunks)
        await chunks.__aenter__()
        try:
            await anext(chunks)
        except BaseException:
            await self._close(chunks)
            raise
        return stream

    async def _chunks(self, request: ModelRequest) -> AsyncGenerator[JsonObject | None, None]:
        """The chunks of an answer, after a `None` when the connection stands."""
        stream = await self._generator.generate_content_stream(request)
        yield None
        async with aclosing(stream):
            async for chunk in stream:
                yield chunk

    async def _stream(self, chunks: Crossing[JsonObject | None]) -> ChunkStream:
        try:
            async for chunk in chunks:
                assert chunk is not None
                yield chunk
        finally:
            self._open.pop(chunks, None)
            await chunks.close()

    async def _close(self, chunks: Crossing[JsonObject | None]) -> None:
        await self._open[chunks].aclose()
        if self._open.pop(chunks, None) is not None:  # nothing was read of it
            await chunks.close()

    async def close(self) -> None:
        """Close every stream that is still open."""
        for chunks in list(self._open):
            await self._close(chunks)


class _Rest:
    """The rest of a coroutine that was driven by hand up to a future that it awaits."""

    def __init__(self, work: Coroutine[Any, None, Any], pending: Any, context: Context) -> None:
        self._work = work
        self._pending = pending
        self._context = context

    def __await__(self) -> Generator[Any, None, Any]:
        """Await it, as a task awaits a coroutine."""
        run, pending = self._context.run, self._pending
        while True:
            try:
                yield pending
            except BaseException as error:  # noqa: BLE001 - it is the coroutine's
                step = partial(self._work.throw, error)
            else:
                step = partial(self._work.send, None)
            try:
                pending = run(step)
            except StopIteration as done:
                return done.value

    async def cancelled(self) -> None:
        """Cancel it, and return when it has ended."""

        async def rest() -> Any:
            return await self

        async with asyncio.TaskGroup() as group:
            task = group.create_task(rest())
            await asyncio.sleep(0)  # a task that was not begun would drop it where it stands
            task.cancel()
