"""`MappedContentGenerator`: sends requests with the backend's names of models.

It is the innermost wrapper: availability, routing, events and recordings use the unmapped names.

Source: core `core/modelMappingContentGenerator.ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from services.model.generator import ChunkStream, ContentGenerator, EmbedRequest, ModelRequest
from services.model.names import AccessFlags, wire_model_name
from services.wire import JsonObject

__all__ = ["MappedContentGenerator"]


class MappedContentGenerator:
    """Renames the model of each request; changes nothing else.

    Args:
        inner: The backend.
        access: The launched models, or a function that returns them for each request.
        code_assist: Whether the backend is Code Assist.
    """

    def __init__(
        self,
        inner: ContentGenerator,
        access: AccessFlags | Callable[[], AccessFlags],
        *,
        code_assist: bool = False,
    ) -> None:
        self._inner = inner
        self._access = access
        self._code_assist = code_assist

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Send the request with the backend's name."""
        return await self._inner.generate_content(self._mapped(request))

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect with the backend's name."""
        return await self._inner.generate_content_stream(self._mapped(request))

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Count with the backend's name."""
        return await self._inner.count_tokens(self._mapped(request))

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Embed with the backend's name."""
        name = self._name(request.model)
        return await self._inner.embed_content(
            request if name == request.model else replace(request, model=name)
        )

    def _mapped(self, request: ModelRequest) -> ModelRequest:
        name = self._name(request.model)
        return request if name == request.model else replace(request, model=name)

    def _name(self, model: str) -> str:
        access = self._access() if callable(self._access) else self._access
        return wire_model_name(model, access, code_assist=self._code_assist)
