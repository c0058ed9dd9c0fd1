"""`ContentGenerator`: the model seam. Everything that talks to a model stands behind it.

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
    """On whose behalf a model is asked."""

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
    """One question to a model.

    `contents` are the API's JSON, oldest first, and never change after the call. `config` holds
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
    """`main`, or the path of the call that started a child agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedRequest:
    """Texts to embed."""

    model: str
    contents: Sequence[str]
    signal: AbortSignal


ChunkStream = AsyncGenerator[JsonObject, None]
"""`GenerateContentResponse` objects as JSON. Close it (`aclosing`) even when read to the end."""


class ContentGenerator(Protocol):
    """A model, real or not. Responses are the API's JSON in camelCase.

    All methods raise `ApiError` for what the API refused, `NetworkError` for what did not reach
    it, and `AbortError` when the request's signal is aborted.
    """

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Ask and wait for the whole answer."""
        ...

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect; the returned stream yields the chunks.

        What goes wrong before the first byte is raised here, what goes wrong later by the stream:
        the two are retried by different rules.
        """
        ...

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """`{totalTokens}` for the request's contents."""
        ...

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """`{embeddings: [{values}]}`, one per text."""
        ...
