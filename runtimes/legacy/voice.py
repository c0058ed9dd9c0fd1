"""`ChatVoice`: on whose behalf a chat speaks: the main agent's, or a subagent's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.model.generator import LlmRole
from services.wire import JsonObject

__all__ = ["ChatVoice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatVoice:
    """What a chat's requests say besides its history."""

    role: LlmRole
    system_instruction: Callable[[], str]
    tools: Callable[[str], list[JsonObject]]
    """What a request to a model declares as its `tools`."""
