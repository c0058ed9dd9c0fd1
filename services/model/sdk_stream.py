"""The stream of a generator over a provider's SDK.

It is a class because closing an unstarted generator function does not run its `finally`, and the
connection would stay open.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from services.model.errors import ModelError
from services.wire import JsonObject

__all__ = ["SdkStream"]


class SdkStream(AsyncGenerator[JsonObject, None]):
    """The chunks of one response.

    Args:
        pull: Returns the next chunk; None at the end.
        close: Ends the HTTP exchange. Called once.
    """

    def __init__(
        self,
        pull: Callable[[], Coroutine[Any, Any, JsonObject | None]],
        close: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._pull = pull
        self._close = close
        self._closed = False
        self.head: JsonObject | ModelError | None = None
        """The first chunk, or a failure after the response began, if it is known already."""

    async def asend(self, value: None, /) -> JsonObject:
        """Return the next chunk."""
        if self._closed:
            raise StopAsyncIteration
        try:
            chunk = await self._next()
        except BaseException:
            await self.aclose()
            raise
        if chunk is None:
            await self.aclose()
            raise StopAsyncIteration
        return chunk

    async def _next(self) -> JsonObject | None:
        head, self.head = self.head, None
        if isinstance(head, ModelError):
            raise head
        return await self._pull() if head is None else head

    async def athrow(self, typ: Any, val: Any = None, tb: Any = None, /) -> JsonObject:
        """Close, and raise the thrown error."""
        await self.aclose()
        raise val if val is not None else typ

    async def aclose(self) -> None:
        """End the HTTP exchange, once."""
        if not self._closed:
            self._closed = True
            await self._close()
