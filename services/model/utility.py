"""`UtilityModel`: requests to a model outside the conversation (routing, checks, summaries).

Source: core `core/baseLlmClient.ts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.abort import AbortSignal
from services.model.generator import LlmRole
from services.wire import Content, JsonObject

__all__ = ["UtilityModel", "UtilityRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityRequest:
    """One request, with the model and settings of a model configuration."""

    config_key: str
    """The alias of the model configuration (`classifier`, `loop-detection`, …), or a model."""
    contents: Sequence[Content]
    role: LlmRole
    prompt_id: str
    signal: AbortSignal
    system_instruction: str | None = None
    override_scope: str | None = None
    """The agent that asks, for configurations with a scope."""
    max_attempts: int | None = None
    """The limit on attempts; `None`: the default."""


class UtilityModel(Protocol):
    """Sends utility requests, with the retries of the core's base client.

    Both methods raise what the model layer raises (`ModelError` and its kin, `AbortError`).
    """

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        """Return the response, a JSON object of `schema`, without Markdown fences."""
        ...

    async def generate_content(self, request: UtilityRequest) -> JsonObject:
        """Return the whole response."""
        ...
