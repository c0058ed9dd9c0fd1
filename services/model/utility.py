"""`UtilityModel`: questions to a model beside the conversation (routing, checks, summaries).

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
    """One question. The model and its settings are those of a model configuration."""

    config_key: str
    """The alias of the model configuration (`classifier`, `loop-detection`, …), or a model."""
    contents: Sequence[Content]
    role: LlmRole
    prompt_id: str
    signal: AbortSignal
    system_instruction: str | None = None
    override_scope: str | None = None
    """On whose behalf, where configurations differ by that."""
    max_attempts: int | None = None
    """Attempts in all; the default of the retry loop where absent."""


class UtilityModel(Protocol):
    """Asks, retrying as the core's base client does.

    Both methods raise what the model layer raises (`ModelError` and its kin, `AbortError`).
    """

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        """The answer, which must be a JSON object of `schema`; markdown fences are taken off."""
        ...

    async def generate_content(self, request: UtilityRequest) -> JsonObject:
        """The whole response."""
        ...
