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

__all__ = ["BackendNames", "MappedContentGenerator", "SessionNames"]


class BackendNames:
    """The names that Google's backends have for models.

    Args:
        access: The launched models, or a function that returns them for each request.
        code_assist: Whether the backend is Code Assist.
    """

    def __init__(
        self, access: AccessFlags | Callable[[], AccessFlags], *, code_assist: bool = False
    ) -> None:
        self._access = access
        self._code_assist = code_assist

    def __call__(self, model: str) -> str:
        """Return the backend's name of a model."""
        access = self._access() if callable(self._access) else self._access
        return wire_model_name(model, access, code_assist=self._code_assist)


class SessionNames:
    """The names for a provider that has no Gemini models.

    The product's own requests (summaries, checks, subagents) name Gemini models; they go to the
    model that the session asked last.
    """

    def __init__(self, model: str) -> None:
        self._model = model

    def __call__(self, model: str) -> str:
        """Return `model`, or the session's for one of Gemini."""
        if model.removeprefix("models/").startswith(("gemini-", "gemma-")):
            return self._model
        self._model = model
        return model


class MappedContentGenerator:
    """Renames the model of each request; changes nothing else.

    Args:
        inner: The backend.
        rename: Returns the backend's name of a model.
    """

    def __init__(self, inner: ContentGenerator, rename: Callable[[str], str]) -> None:
        self._inner = inner
        self._rename = rename

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
        name = self._rename(request.model)
        return await self._inner.embed_content(
            request if name == request.model else replace(request, model=name)
        )

    def _mapped(self, request: ModelRequest) -> ModelRequest:
        name = self._rename(request.model)
        return request if name == request.model else replace(request, model=name)
