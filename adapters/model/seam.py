"""`ModelSeam`: answers the HTTP requests of an agent's client with the model of the services.

The client stays as it is, and so does the agent's code. What the services do for an answer happens
in their own context, not in the agent's: see `adapters.crossing`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from adapters.crossing import Crossing
from adapters.model.formats import Call, HttpRequest, WireFormat
from adapters.model.gemini import GEMINI
from services.model.errors import ApiError, NetworkError
from services.model.generator import ContentGenerator
from services.wire import JsonObject

__all__ = ["FORMATS", "Answer", "CannotAnswer", "ModelSeam", "Stream"]

FORMATS: Final[tuple[WireFormat, ...]] = (GEMINI,)
_JSON: Final = "application/json; charset=UTF-8"
_EVENTS: Final = "text/event-stream"


class CannotAnswer(Exception):
    """The connection fails. The message is what the client's own error shows."""


class Stream(Protocol):
    """The pieces of a body as they come.

    It is no generator: a client that drops it leaves nothing open that the seam does not close.
    """

    def __aiter__(self) -> Stream:
        """Return itself."""
        ...

    async def __anext__(self) -> bytes:
        """Return the next piece; raises `CannotAnswer` where the connection fails."""
        ...

    async def aclose(self) -> None:
        """End the model's answer."""
        ...


@dataclass(slots=True)
class Answer:
    """An HTTP response: its whole body, or a stream that the client reads and closes."""

    status: int
    content_type: str = _JSON
    body: bytes = b""
    stream: Stream | None = None


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


class ModelSeam:
    """Answers the calls of one conversation."""

    def __init__(
        self, generator: ContentGenerator, formats: Sequence[WireFormat] = FORMATS
    ) -> None:
        self._generator = generator
        self._formats = formats
        self._outside: Context = copy_context()
        self._open: set[Crossing[JsonObject | None]] = set()
        self._left: list[_Rest] = []

    def call(self, request: HttpRequest) -> Call | None:
        """Return the call that a request makes; `None` if it is none of a model's API.

        Raises:
            CannotAnswer: it is one that cannot be read.
        """
        try:
            found = (each.read(request) for each in self._formats)
            return next((call for call in found if call is not None), None)
        except ValueError as error:
            raise CannotAnswer(f"the request to {request.path} cannot be read: {error}") from error

    async def answer(self, call: Call) -> Answer:
        """Answer a call, in the format that it came in.

        Raises:
            CannotAnswer: the cassette has a failed connection here.
        """
        if call.counts:
            work = self._whole(call)
            context = self._outside.copy()
            return await asyncio.get_running_loop().create_task(work, context=context)
        chunks = Crossing(self._chunks(call), context=self._outside.copy())
        self._open.add(chunks)
        await chunks.__aenter__()
        streams = False
        try:
            await anext(chunks)
            if call.streams:
                streams = True
                return Answer(200, _EVENTS, stream=_Pieces(call, chunks, self._close))
            found = [chunk async for chunk in chunks if chunk is not None]
            return Answer(200, body=call.whole(found))
        except ApiError as error:
            return Answer(error.status, body=call.error(error))
        except NetworkError as error:
            raise CannotAnswer(str(error)) from error
        finally:
            if not streams:
                await self._close(chunks)

    def answer_now(self, call: Call) -> Answer:
        """Answer a call without waiting, for a client that blocks the event loop.

        Raises:
            CannotAnswer: the answer waits for something, or as for `answer`.
        """
        work, context = self._whole(call), self._outside.copy()
        try:
            while (pending := context.run(work.send, None)) is None:
                pass  # `asyncio.sleep(0)` hands over nothing; anything else waits
        except StopIteration as done:
            found: Answer = done.value
            return found
        self._left.append(_Rest(work, pending, context))
        raise CannotAnswer(
            "a synchronous client in the event loop cannot wait for this answer; call it in a "
            "thread (asyncio.to_thread), or use the asynchronous client"
        )

    async def _whole(self, call: Call) -> Answer:
        """Answer a call with its whole body, in the context of the services."""
        try:
            if call.counts:
                counted = await self._generator.count_tokens(call.request)
                return Answer(200, body=call.count(counted))
            chunks = self._chunks(call)
            async with aclosing(chunks):
                found = [chunk async for chunk in chunks if chunk is not None]
        except ApiError as error:
            return Answer(error.status, body=call.error(error))
        except NetworkError as error:
            raise CannotAnswer(str(error)) from error
        if call.streams:
            body = b"".join([*map(call.chunk, found), call.end()])
            return Answer(200, _EVENTS, body=body)
        return Answer(200, body=call.whole(found))

    async def close(self) -> None:
        """End the answers that the agent did not read to their end."""
        for chunks in list(self._open):
            await self._close(chunks)
        for rest in self._left:
            await rest.cancelled()

    async def _close(self, chunks: Crossing[JsonObject | None]) -> None:
        self._open.discard(chunks)
        await chunks.close()

    async def _chunks(self, call: Call) -> AsyncGenerator[JsonObject | None, None]:
        """The chunks of an answer, after a `None` when the connection stands."""
        stream = await self._generator.generate_content_stream(call.request)
        yield None
        async with aclosing(stream):
            async for chunk in stream:
                yield chunk


class _Pieces:
    """The chunks of an answer, as its provider writes them."""

    def __init__(
        self,
        call: Call,
        chunks: Crossing[JsonObject | None],
        close: Callable[[Crossing[JsonObject | None]], Awaitable[None]],
    ) -> None:
        self._call = call
        self._chunks = chunks
        self._close = close
        self._over = False

    def __aiter__(self) -> _Pieces:
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece; at the end what ends the stream, or an error of the API."""
        if self._over:
            raise StopAsyncIteration
        try:
            chunk = await anext(self._chunks, None)
        except ApiError as error:
            return await self._last(self._call.late_error(error))
        except NetworkError as error:
            await self._last(b"")
            raise CannotAnswer(str(error)) from error
        if chunk is None:
            return await self._last(self._call.end())
        return self._call.chunk(chunk)

    async def _last(self, piece: bytes) -> bytes:
        self._over = True
        await self._close(self._chunks)
        return piece

    async def aclose(self) -> None:
        """End the model's answer."""
        if not self._over:
            await self._last(b"")
