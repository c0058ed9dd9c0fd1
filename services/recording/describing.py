"""Describes chat recordings for lists of sessions, without keeping their messages.

Source: core `services/chatRecordingService.ts` (`loadConversationRecord` with `metadataOnly`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from services.clock import Clock
from services.recording.loading import RecordingReader, read_recording
from services.recording.records import (
    ConversationRecord,
    has_resumable_content,
    is_resumable_message,
)
from services.wire import Json, JsonObject, js_truthy

__all__ = ["describe_recording"]


def describe_recording(file: Path, clock: Clock) -> ConversationRecord | None:
    """Read what a list of sessions shows of a recording.

    The result has no messages. Its fields have the facts about them: `messageCount`,
    `userMessageCount`, `firstUserMessage`, `hasResumableContent` and, with a scratchpad,
    `memoryScratchpadIsStale`. It is `None` where `load_conversation_record` gives `None`.
    """
    return read_recording(file, clock, _Describing())


class _Describing(RecordingReader):
    """Counts messages instead of keeping them."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: list[str] = []
        """The ids of the messages, once for each update."""
        self._kinds: dict[str, tuple[bool, bool]] = {}
        """Whether each message is the user's, and whether it is conversation."""
        self._first_user_message: str | None = None
        self._tracks_scratchpad = False
        self._scratchpad_is_stale = False

    def record(self, clock: Clock) -> ConversationRecord:
        """The metadata, and the facts about the messages."""
        fields = super().record(clock).fields
        fields["messageCount"] = len(self._ids)
        fields["userMessageCount"] = sum(is_user for is_user, _ in self._kinds.values())
        if self._tracks_scratchpad:
            fields["memoryScratchpadIsStale"] = self._scratchpad_is_stale
        if self._first_user_message is not None:
            fields["firstUserMessage"] = self._first_user_message
        fields["hasResumableContent"] = any(resumable for _, resumable in self._kinds.values())
        return ConversationRecord(fields, [])

    def old_record(self, fields: JsonObject, messages: list[JsonObject]) -> ConversationRecord:
        """The fields of an old document, and the facts about its messages."""
        fields["messageCount"] = len(messages)
        fields["userMessageCount"] = sum(message.get("type") == "user" for message in messages)
        first = _first_user_text(messages)
        fields |= {} if first is None else {"firstUserMessage": first}
        fields["hasResumableContent"] = has_resumable_content(messages)
        return ConversationRecord(fields, [])

    def _take(self, record: JsonObject) -> None:
        if isinstance(record.get("$rewindTo"), str) or isinstance(record.get("id"), str):
            self._scratchpad_is_stale = self._scratchpad_is_stale or self._tracks_scratchpad
        super()._take(record)

    def _rewind(self, message_id: str) -> None:
        start = self._ids.index(message_id) if message_id in self._ids else 0
        removed = self._ids[start:]
        del self._ids[start:]
        for gone in removed if start else list(self._kinds):
            self._kinds.pop(gone, None)

    def _add(self, message: JsonObject) -> None:
        is_user, is_resumable = message.get("type") == "user", is_resumable_message(message)
        self._ids.append(message["id"])
        self._kinds[message["id"]] = (is_user, is_resumable)
        if not self._first_user_message and is_user and is_resumable:
            found = _plain_text(message.get("content"))
            self._first_user_message = self._first_user_message if found is None else found

    def _update(self, updates: JsonObject) -> None:
        if "memoryScratchpad" in updates:
            self._tracks_scratchpad = js_truthy(updates["memoryScratchpad"])
            self._scratchpad_is_stale = False
        super()._update(updates)

    def _clear(self) -> None:
        self._ids.clear()
        self._kinds.clear()


def _first_user_text(messages: Iterable[JsonObject]) -> str | None:
    for message in messages:
        if message.get("type") == "user" and is_resumable_message(message):
            return _plain_text(message.get("content"))
    return None


def _plain_text(content: Json) -> str | None:
    """A message's text alone; `None` for a content that is neither text nor a list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))
