"""The content of a chat recording, and which messages count as conversation.

Source: core `services/chatRecordingTypes.ts`, `services/chatRecordingService.ts`,
`utils/sessionUtils.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.model.parts import part_list_to_string
from services.wire import Content, Json, JsonObject, js_trim

__all__ = [
    "ConversationRecord",
    "HistoryTurn",
    "ResumedSession",
    "content_text",
    "has_resumable_content",
    "is_ignored_user_content",
    "is_resumable_message",
    "tool_calls_of",
]

HistoryTurn = tuple[str, Content]
"""A turn of the model-facing history: its durable id and its content."""

_IGNORED: Final = ("/", "?", "<session_context>", "<hook_context>")


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A recording as it stands after all of its lines.

    `fields` is everything but the messages, under the wire's names: `sessionId`, `projectHash`,
    `startTime`, `lastUpdated`, `kind`, `summary`, … A name without a value is not in it.
    """

    fields: JsonObject
    messages: list[JsonObject]

    @property
    def session_id(self) -> str:
        """The session that was recorded."""
        return str(self.fields.get("sessionId") or "")


@dataclass(frozen=True, slots=True)
class ResumedSession:
    """A recording to resume: its content, and its file."""

    conversation: ConversationRecord
    file: Path


def content_text(content: Json) -> str:
    """A message's content as text; other parts are named in brackets."""
    if isinstance(content, (str, dict, list)):
        return part_list_to_string(content, verbose=True)
    return ""


def is_ignored_user_content(text: str) -> bool:
    """Whether trimmed `text` is not for the model: empty, a command, or injected context."""
    return not text or text.startswith(_IGNORED)


def is_resumable_message(message: JsonObject) -> bool:
    """Whether a message is conversation: a text of the user, or an answer that is not empty."""
    text = content_text(message.get("content"))
    if message.get("type") == "user":
        return not is_ignored_user_content(js_trim(text))
    if message.get("type") == "gemini":
        return bool(js_trim(text) or message.get("toolCalls") or message.get("thoughts"))
    return False


def has_resumable_content(messages: Iterable[JsonObject]) -> bool:
    """Whether any of the messages is conversation."""
    return any(map(is_resumable_message, messages))


def tool_calls_of(message: JsonObject) -> Sequence[JsonObject]:
    """The message's tool call records, without malformed ones."""
    calls = message.get("toolCalls")
    if not isinstance(calls, list):
        return ()
    return [call for call in calls if isinstance(call, dict)]
