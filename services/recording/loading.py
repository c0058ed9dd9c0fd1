"""Reads chat recordings.

A line that is not JSON, or not a record, is skipped, such as an incomplete last line.

Source: core `services/chatRecordingService.ts` (`loadConversationRecord`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

from services.clock import Clock, iso_timestamp
from services.exhaustion import notice
from services.recording.records import (
    ConversationRecord,
    has_resumable_content,
    is_resumable_message,
)
from services.regular_files import MOST_TEXT, open_regular, read_regular
from services.wire import Json, JsonObject, js_trim, js_truthy

__all__ = ["load_conversation_record"]

logger = logging.getLogger(__name__)

# The errors that a malformed record can cause.
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, RecursionError)


def load_conversation_record(
    file: Path, clock: Clock, *, metadata_only: bool = False
) -> ConversationRecord | None:
    """Read a recording: JSON lines, or the one JSON document of old versions.

    Args:
        file: the recording.
        clock: dates a recording without a date of its own.
        metadata_only: count messages, but keep none.

    Returns:
        The state after all lines; `None` where the file is missing, cannot be read, or is no
        recording.
    """
    reader = _Reader(metadata_only)
    try:
        with TextIOWrapper(open_regular(file), "utf-8", "replace", newline=None) as lines:
            for line in lines:
                if js_trim(line):
                    reader.read(line)
        if not reader.metadata.get("sessionId") or not reader.metadata.get("projectHash"):
            return _read_legacy(file, metadata_only)
    except FileNotFoundError:
        return None
    except OSError as error:
        notice(error, file)
        logger.warning("the chat recording %s cannot be read: %s", file, error)
        return None
    return reader.record(clock)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _parse(text: str) -> Json:
    return json.loads(text, parse_constant=_no_constant)


class _Reader:
    """The state that a recording's lines build up."""

    def __init__(self, metadata_only: bool) -> None:
        self.metadata: JsonObject = {}
        self._metadata_only = metadata_only
        self._messages: dict[str, JsonObject] = {}
        self._ids: list[str] = []
        """Without messages: their ids, once for each update."""
        self._kinds: dict[str, tuple[bool, bool]] = {}
        """Without messages: whether each is the user's, and whether it is conversation."""
        self._first_user_message: str | None = None
        self._tracks_scratchpad = False
        self._scratchpad_is_stale = False

    def read(self, line: str) -> None:
        """Take in one line."""
        try:
            record = _parse(line)
            if isinstance(record, dict):
                self._take(record)
        except _MALFORMED as problem:
            logger.debug("a line of a chat recording was skipped: %s", problem)

    def record(self, clock: Clock) -> ConversationRecord:
        """The state after all lines."""
        now = iso_timestamp(clock.now_ms())
        messages = list(self._messages.values())
        if self._metadata_only:
            from_user = sum(is_user for is_user, _ in self._kinds.values())
            resumable = any(is_resumable for _, is_resumable in self._kinds.values())
        else:
            from_user = sum(message.get("type") == "user" for message in messages)
            resumable = has_resumable_content(messages)
        fields: JsonObject = {
            "sessionId": self.metadata["sessionId"],
            "projectHash": self.metadata["projectHash"],
            "startTime": self.metadata.get("startTime") or now,
            "lastUpdated": self.metadata.get("lastUpdated") or now,
        }
        for key in ("summary", "memoryScratchpad", "directories", "kind"):
            if key in self.metadata:
                fields[key] = self.metadata[key]
        fields["messageCount"] = len(messages) or len(self._ids)
        fields["userMessageCount"] = from_user
        if self._tracks_scratchpad:
            fields["memoryScratchpadIsStale"] = self._scratchpad_is_stale
        first = self._first_user_message
        if not first:
            found = _first_user_text(messages)
            first = first if found is None else found
        if first is not None:
            fields["firstUserMessage"] = first
        fields["hasResumableContent"] = resumable
        return ConversationRecord(fields, messages)

    def _take(self, record: JsonObject) -> None:
        if isinstance(record.get("$rewindTo"), str):
            self._touch_scratchpad()
            self._rewind(record["$rewindTo"])
        elif isinstance(record.get("id"), str):
            self._touch_scratchpad()
            self._add(record)
        elif isinstance(record.get("$set"), (dict, list)):
            self._update(record["$set"])
        elif isinstance(record.get("sessionId"), str) and isinstance(
            record.get("projectHash"), str
        ):
            self.metadata |= record
            self._add_all(record.get("messages"))

    def _touch_scratchpad(self) -> None:
        self._scratchpad_is_stale = self._scratchpad_is_stale or self._tracks_scratchpad

    def _rewind(self, message_id: str) -> None:
        """Drop a message and all after it; everything if there is no such message."""
        if self._metadata_only:
            start = self._ids.index(message_id) if message_id in self._ids else 0
            removed = self._ids[start:]
            del self._ids[start:]
            for gone in removed if start else list(self._kinds):
                self._kinds.pop(gone, None)
            return
        ids = list(self._messages)
        start = ids.index(message_id) if message_id in self._messages else 0
        for gone in ids[start:]:
            del self._messages[gone]

    def _add(self, message: JsonObject) -> None:
        is_resumable = is_resumable_message(message)
        message_id, is_user = message["id"], message.get("type") == "user"
        if self._metadata_only:
            self._ids.append(message_id)
            self._kinds[message_id] = (is_user, is_resumable)
        if not self._first_user_message and is_user and is_resumable:
            found = _plain_text(message.get("content"))
            self._first_user_message = self._first_user_message if found is None else found
        if not self._metadata_only:
            self._messages[message_id] = message

    def _update(self, updates: JsonObject | list[Any]) -> None:
        if isinstance(updates, list):
            return
        if "memoryScratchpad" in updates:
            self._tracks_scratchpad = js_truthy(updates["memoryScratchpad"])
            self._scratchpad_is_stale = False
        if isinstance(updates.get("messages"), list):
            self._messages.clear()
            self._ids.clear()
            self._kinds.clear()
            self._add_all(updates["messages"])
        self.metadata |= updates

    def _add_all(self, messages: Json) -> None:
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict) and isinstance(message.get("id"), str):
                self._add(message)


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


def _read_legacy(file: Path, metadata_only: bool) -> ConversationRecord | None:
    try:
        document = _parse(read_regular(file, MOST_TEXT).decode(errors="replace"))
        if not isinstance(document, dict) or "sessionId" not in document:
            return None
        messages = [m for m in document.get("messages") or () if isinstance(m, dict)]
        fields = {key: value for key, value in document.items() if key != "messages"}
        if metadata_only:
            fields["messageCount"] = len(messages)
        fields["userMessageCount"] = sum(message.get("type") == "user" for message in messages)
        if metadata_only:
            first = _first_user_text(messages)
            fields |= {} if first is None else {"firstUserMessage": first}
        fields["hasResumableContent"] = has_resumable_content(messages)
    except _MALFORMED as problem:
        logger.debug("%s is no chat recording: %s", file, problem)
        return None
    return ConversationRecord(fields, [] if metadata_only else messages)
