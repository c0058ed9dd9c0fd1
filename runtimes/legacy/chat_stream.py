"""What a send of `GeminiChat` yields. Source: core `core/geminiChat.ts`, `StreamEvent`."""

from __future__ import annotations

from dataclasses import dataclass

from services.wire import JsonObject

__all__ = ["ChatBlocked", "ChatItem", "ChatRetry", "ChatStopped"]


@dataclass(frozen=True, slots=True)
class ChatRetry:
    """Stands in the stream where a failed attempt is given up for another one."""


@dataclass(frozen=True, slots=True)
class ChatStopped:
    """A hook has ended the stream."""

    reason: str


@dataclass(frozen=True, slots=True)
class ChatBlocked:
    """A hook has refused the answer; what follows stands in its place."""

    reason: str


ChatItem = JsonObject | ChatRetry | ChatStopped | ChatBlocked
"""What a send yields: the answer's chunks, and what happened to them."""
