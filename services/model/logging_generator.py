"""`LoggingContentGenerator`: logs each call and changes nothing.

Contents and headers are never logged, only their sizes: a log has more readers than a
conversation is meant for. What an error says is logged without keys and tokens.

Source: core `core/loggingContentGenerator.ts`.
"""

from __future__ import annotations

import logging
from contextlib import aclosing

from services.abort import AbortError
from services.model.errors import error_message, error_status, error_type_name
from services.model.generator import (
    ChunkStream,
    ContentGenerator,
    EmbedRequest,
    ModelRequest,
)
from services.redaction import redacted
from services.wire import JsonObject

__all__ = ["LoggingContentGenerator"]


class LoggingContentGenerator:
    """Logs `api_request`, `api_response` and `api_error` around an inner generator.

    Each record carries its facts as attributes (`method`, `model`, `role`, `prompt_id`, …). An
    aborted request is somebody's wish, not a failure of the API, and is not logged as one.

    Args:
        inner: Who answers.
        logger: Where the records go.
    """

    def __init__(self, inner: ContentGenerator, logger: logging.Logger) -> None:
        self._inner = inner
        self._logger = logger

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Ask the inner generator."""
        facts = self._asked("generateContent", request)
        try:
            response = await self._inner.generate_content(request)
        except Exception as error:
            self._failed(facts, error)
            raise
        self._answered(facts, response.get("usageMetadata"), chunks=1)
        return response

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect through the inner generator; the end of the stream is logged when reached."""
        facts = self._asked("generateContentStream", request)
        try:
            stream = await self._inner.generate_content_stream(request)
        except Exception as error:
            self._failed(facts, error)
            raise
        return self._logged(facts, stream)

    async def _logged(self, facts: JsonObject, stream: ChunkStream) -> ChunkStream:
        usage: JsonObject | None = None
        chunks = 0
        try:
            async with aclosing(stream):
                async for chunk in stream:
                    chunks += 1
                    usage = chunk.get("usageMetadata") or usage
                    yield chunk
        except Exception as error:
            self._failed(facts, error)
            raise
        self._answered(facts, usage, chunks=chunks)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Pass through; upstream does not log counts."""
        return await self._inner.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Pass through; upstream does not log embeddings."""
        return await self._inner.embed_content(request)

    def _asked(self, method: str, request: ModelRequest) -> JsonObject:
        facts: JsonObject = {
            "method": method,
            "model": request.model,
            "role": str(request.role),
            "prompt_id": request.prompt_id,
        }
        self._logger.debug(
            "api_request %s %s", method, request.model, extra={**facts, "n": len(request.contents)}
        )
        return facts

    def _answered(self, facts: JsonObject, usage: JsonObject | None, *, chunks: int) -> None:
        usage = usage or {}
        counts = {
            "chunks": chunks,
            "input_tokens": usage.get("promptTokenCount", 0),
            "output_tokens": usage.get("candidatesTokenCount", 0),
        }
        self._logger.debug(
            "api_response %s %s", facts["method"], facts["model"], extra={**facts, **counts}
        )

    def _failed(self, facts: JsonObject, error: Exception) -> None:
        if isinstance(error, AbortError):
            return
        text = redacted(error_message(error))
        self._logger.warning(
            "api_error %s %s: %s",
            facts["method"],
            facts["model"],
            text,
            extra={
                **facts,
                "error_type": error_type_name(error),
                "error_status": error_status(error),
            },
        )
