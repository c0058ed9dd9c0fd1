"""The real client without a network, and a callback for each chunk that its consumer handled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Final

import httpx

from services.clock import Clock
from services.model.auth import AuthConfig, AuthType
from services.model.gemini import GeminiContentGenerator
from services.model.generator import ChunkStream

__all__ = ["HEADERS", "local_client", "reported"]

_KEY: Final = "local"
_OF_USER: Final = {"x-of-user": "a header that the user configured"}
HEADERS: Final = {"x-goog-api-key": _KEY, **_OF_USER}
"""What every request of the client has among its headers."""


def local_client(base_url: str, clock: Clock, http: httpx.AsyncClient) -> GeminiContentGenerator:
    """Make google-genai's client over `http`."""
    auth = AuthConfig(type=AuthType.USE_GEMINI, api_key=_KEY, base_url=base_url, headers=_OF_USER)
    return GeminiContentGenerator(auth, clock, http_client=http)


async def reported(
    stream: ChunkStream, request: int, on_chunk: Callable[[int, int], None] | None
) -> ChunkStream:
    """Yield the chunks of `stream`; closing the result closes the stream.

    `on_chunk` receives the indices of the request and of the chunk, both from 0, when the consumer
    asks for the next chunk.
    """
    chunk_index = 0
    async with aclosing(stream):
        async for chunk in stream:
            yield chunk
            if on_chunk is not None:
                on_chunk(request, chunk_index)
            chunk_index += 1
