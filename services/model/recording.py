"""`RecordingContentGenerator`: writes a model's responses to a file for a later replay.

One JSON line `{method, response}` per completed call: upstream's `--record-responses` file. Each
line is written before the caller sees the end of the response, and a stream only at its end.

Upstream's serialiser writes `[Circular]` for an object that occurs twice; this one repeats it.

Source: core `core/recordingContentGenerator.ts`.
"""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

from services.model.generator import (
    ChunkStream,
    ContentGenerator,
    EmbedRequest,
    ModelRequest,
)
from services.private_files import open_private
from services.wire import Json, JsonObject, js_json

__all__ = ["RecordingContentGenerator"]

_ANSWER = ("candidates", "usageMetadata")


class RecordingContentGenerator:
    """Appends each completed response to the file `path`, whose folder must exist."""

    def __init__(self, inner: ContentGenerator, path: Path) -> None:
        self._inner = inner
        self._path = path

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Record the response."""
        response = await self._inner.generate_content(request)
        self._append("generateContent", _only(response, _ANSWER))
        return response

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect; the chunks are recorded when the last one has been read."""
        return self._recorded(await self._inner.generate_content_stream(request))

    async def _recorded(self, stream: ChunkStream) -> ChunkStream:
        kept: list[JsonObject] = []
        async with aclosing(stream):
            async for chunk in stream:
                kept.append(_only(chunk, _ANSWER))
                yield chunk
        self._append("generateContentStream", kept)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Count, and record the count."""
        response = await self._inner.count_tokens(request)
        kept = _only(response, ("totalTokens", "cachedContentTokenCount"))
        self._append("countTokens", kept)
        return response

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Embed, and record the vectors."""
        response = await self._inner.embed_content(request)
        self._append("embedContent", _only(response, ("embeddings", "metadata")))
        return response

    def _append(self, method: str, response: Json) -> None:
        line = js_json({"method": method, "response": response})
        with open_private(self._path, "a", encoding="utf-8", newline="\n") as file:
            file.write(f"{line}\n")


def _only(response: JsonObject, keys: tuple[str, ...]) -> JsonObject:
    return {key: response[key] for key in keys if response.get(key) is not None}
