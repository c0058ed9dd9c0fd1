"""`ContentGenerator`: the model seam, the interface of every model.

Source: core `core/contentGenerator.ts`; roles: `telemetry/llmRole.ts`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from services.abort import AbortSignal
from services.wire import Content, JsonObject

__all__ = ["ChunkStream", "ContentGenerator", "EmbedRequest", "LlmRole", "ModelRequest"]


class LlmRole(StrEnum):
    """The part of the product that makes a request."""

    MAIN = "main"
    SUBAGENT = "subagent"
    UTILITY_TOOL = "utility_tool"
    UTILITY_COMPRESSOR = "utility_compressor"
    UTILITY_SUMMARIZER = "utility_summarizer"
    UTILITY_ROUTER = "utility_router"
    UTILITY_LOOP_DETECTOR = "utility_loop_detector"
    UTILITY_NEXT_SPEAKER = "utility_next_speaker"
    UTILITY_EDIT_CORRECTOR = "utility_edit_corrector"
    UTILITY_AUTOCOMPLETE = "utility_autocomplete"
    UTILITY_FAST_ACK_HELPER = "utility_fast_ack_helper"
    UTILITY_STATE_SNAPSHOT_PROCESSOR = "utility_state_snapshot_processor"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model.

    `contents` are the API's JSON, oldest first, and do not change after the call. `config` has
    `temperature`, `thinkingConfig`, `systemInstruction` (text), `tools`, `toolConfig` … in the
    API's camelCase.
    """

    model: str
    contents: Sequence[Content]
    role: LlmRole
    prompt_id: str
    signal: AbortSignal
    config: JsonObject = field(default_factory=dict)
    thread: str = "main"
    """`main`, or the path of the call that started a subagent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedRequest:
    """Texts to embed."""

    model: str
    contents: Sequence[str]
    signal: AbortSignal


ChunkStream = AsyncGenerator[JsonObject, None]
"""`GenerateContentResponse` objects as JSON. Close it (`aclosing`), even after its end."""


class ContentGenerator(Protocol):
    """A model. Responses are the API's JSON in camelCase.

    All methods raise `ApiError` for a refusal, `NetworkError` for a failed connection, and
    `AbortError` when the request's signal is aborted.
    """

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Return the whole response."""
        ...

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect, and return the stream of chunks.

        Failures before the first byte are raised here, later ones by the stream: different rules
        apply to their retries.
        """
        ...

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """`{totalTokens}` for the request's contents."""
        ...

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """`{embeddings: [{values}]}`, one per text."""
        ...
