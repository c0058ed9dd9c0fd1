"""`ChatRequestParts`: what a chat's requests carry besides its history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.model.generator import LlmRole
from services.wire import JsonObject

__all__ = ["ChatRequestParts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequestParts:
    """The main agent's, or a subagent's."""

    role: LlmRole
    system_instruction: Callable[[], str]
    tools: Callable[[str], list[JsonObject]]
    """What a request to a model declares as its `tools`."""
