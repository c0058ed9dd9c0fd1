"""Reporting the chunks of a stream that its consumer has handled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from services.model.generator import ChunkStream

__all__ = ["reported"]


async def reported(
    stream: ChunkStream, request: int, on_chunk: Callable[[int, int], None] | None
) -> ChunkStream:
    """Pass `stream` on; closing the result closes it.

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
