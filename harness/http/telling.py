"""`telling`: a stream of chunks that says which of them its consumer has dealt with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from services.model.generator import ChunkStream

__all__ = ["telling"]


async def telling(
    stream: ChunkStream, request: int, on_chunk: Callable[[int, int], None] | None
) -> ChunkStream:
    """Pass `stream` on, and close it with this.

    `on_chunk` is called with the request's and the chunk's index, both from 0, when the consumer
    asks for the next chunk.
    """
    chunk_index = 0
    async with aclosing(stream):
        async for chunk in stream:
            yield chunk
            if on_chunk is not None:
                on_chunk(request, chunk_index)
            chunk_index += 1
