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

__all__ = ["KEY", "local_client", "reported"]

KEY: Final = "local"
"""The API key of the client."""


def local_client(base_url: str, clock: Clock, http: httpx.AsyncClient) -> GeminiContentGenerator:
    """Make google-genai's client over `http`, without loading certificates, which is slow."""
    return GeminiContentGenerator(
        AuthConfig(type=AuthType.USE_GEMINI, api_key=KEY, base_url=base_url),
        clock,
        http_client=http,
        http_options={"client_args": {"verify": False}, "async_client_args": {"ssl": False}},
    )


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
