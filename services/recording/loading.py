"""Reads chat recordings.

A line that is not JSON, or not a record, is skipped, such as an incomplete last line.

Source: core `services/chatRecordingService.ts` (`loadConversationRecord`).
"""

from __future__ import annotations

import json
import logging
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from services.clock import Clock, iso_timestamp
from services.exhaustion import notice
from services.recording.records import ConversationRecord, content_text
from services.regular_files import MOST_TEXT, open_regular, read_regular
from services.wire import Json, JsonObject, js_trim

__all__ = ["RecordingReader", "load_conversation_record", "read_recording"]

logger = logging.getLogger(__name__)

# The errors that a malformed record can cause.
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, RecursionError)


def load_conversation_record(file: Path, clock: Clock) -> ConversationRecord | None:
    """Read a recording to resume or to show it: its messages, and the fields that lines set.

    `clock` dates a recording without a date of its own. The result is `None` where the file is
    missing, cannot be read, or is no recording.
    """
    return read_recording(file, clock, RecordingReader())


def read_recording(file: Path, clock: Clock, reader: RecordingReader) -> ConversationRecord | None:
    """Read JSON lines, or the one JSON document of old versions, with `reader`.

    Returns:
        The state after all lines; `None` where the file is missing, cannot be read, or is no
        recording.
    """
    try:
        with TextIOWrapper(open_regular(file), "utf-8", "replace", newline=None) as lines:
            for line in lines:
                if js_trim(line):
                    reader.read(line)
        if not reader.metadata.get("sessionId") or not reader.metadata.get("projectHash"):
            return _read_legacy(file, reader)
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


class RecordingReader:
    """The state that a recording's lines build up: the metadata and the messages."""

    def __init__(self) -> None:
        self.metadata: JsonObject = {}
        self._messages: dict[str, JsonObject] = {}

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
        fields: JsonObject = {
            "sessionId": self.metadata["sessionId"],
            "projectHash": self.metadata["projectHash"],
            "startTime": self.metadata.get("startTime") or now,
            "lastUpdated": self.metadata.get("lastUpdated") or now,
        }
        for key in ("summary", "memoryScratchpad", "directories", "kind"):
            if key in self.metadata:
                fields[key] = self.metadata[key]
        return ConversationRecord(fields, list(self._messages.values()))

    def old_record(self, fields: JsonObject, messages: list[JsonObject]) -> ConversationRecord:
        """The state after the document of an old version."""
        return ConversationRecord(fields, messages)

    def _rewind(self, message_id: str) -> None:
        """Drop a message and all after it; everything if there is no such message."""
        ids = list(self._messages)
        start = ids.index(message_id) if message_id in self._messages else 0
        for gone in ids[start:]:
            del self._messages[gone]

    def _add(self, message: JsonObject) -> None:
        """Take in a message; it replaces the one with its id.

        Raises:
            TypeError, AttributeError: its content is none of the API's.
        """
        _check(message)
        self._messages[message["id"]] = message

    def _update(self, updates: JsonObject) -> None:
        """Set fields of the metadata; `messages` replaces all messages."""
        if isinstance(updates.get("messages"), list):
            self._clear()
            self._add_all(updates["messages"])
        self.metadata |= updates

    def _clear(self) -> None:
        """Forget all messages."""
        self._messages.clear()

    def _take(self, record: JsonObject) -> None:
        if isinstance(record.get("$rewindTo"), str):
            self._rewind(record["$rewindTo"])
        elif isinstance(record.get("id"), str):
            self._add(record)
        elif isinstance(record.get("$set"), dict):
            self._update(record["$set"])
        elif isinstance(record.get("sessionId"), str) and isinstance(
            record.get("projectHash"), str
        ):
            self.metadata |= record
            self._add_all(record.get("messages"))

    def _add_all(self, messages: Json) -> None:
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict) and isinstance(message.get("id"), str):
                self._add(message)


def _check(message: JsonObject) -> None:
    """Raise one of `_MALFORMED` if the message has a content that is none of the API's."""
    js_trim(content_text(message.get("content")))


def _read_legacy(file: Path, reader: RecordingReader) -> ConversationRecord | None:
    try:
        document = _parse(read_regular(file, MOST_TEXT).decode(errors="replace"))
        if not isinstance(document, dict) or "sessionId" not in document:
            return None
        messages = [m for m in document.get("messages") or () if isinstance(m, dict)]
        for message in messages:
            _check(message)
        fields = {key: value for key, value in document.items() if key != "messages"}
        return reader.old_record(fields, messages)
    except _MALFORMED as problem:
        logger.debug("%s is no chat recording: %s", file, problem)
        return None
