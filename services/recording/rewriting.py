"""Records a whole history anew: every content under a new id, then a checkpoint with all of them.

That is upstream's format, which writes a replaced history twice. The text of a content's message,
but for its id and time, never changes and is made once.

Source: core `services/chatRecordingService.ts` (`recordMessage`, `updateMessagesFromHistory`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from services.history.prefix import shared_prefix
from services.recording.records import HistoryTurn
from services.wire import Content, JsonObject, js_json

__all__ = ["HistoryTexts", "Rewritten", "checkpoint_line", "history_message"]

_BEGUN: Final = b'{"id":"'
_PIECES: Final = 4
_KEPT_UP_TO: Final = 4096
"""Bytes. A longer text is not kept: it would be a second copy of a content in memory."""
_PORTION: Final = 1024
"""How many messages are joined at once."""


def history_message(message_id: str, timestamp: str, content: Content) -> JsonObject:
    """The message that a content of a history is recorded as."""
    parts = content.get("parts") or []
    if content.get("role") == "user":
        return {"id": message_id, "timestamp": timestamp, "type": "user", "content": parts}
    return {
        "id": message_id,
        "timestamp": timestamp,
        "type": "gemini",
        "content": parts,
        "thoughts": [],
        "tokens": None,
    }


class Rewritten:
    """The messages that a history was just recorded as, and their texts.

    A text has four pieces: the beginning, the id, the time, the rest. The pieces of thousands of
    messages are joined at once.
    """

    def __init__(
        self,
        contents: Sequence[Content],
        message_ids: Sequence[str],
        timestamp: str,
        rests: Sequence[bytes],
    ) -> None:
        self._contents = contents
        self._message_ids = message_ids
        self._timestamp = timestamp.encode()
        self.messages = [
            history_message(message_id, timestamp, content)
            for message_id, content in zip(message_ids, contents, strict=True)
        ]
        self._pieces = [b'","timestamp":"%b",' % self._timestamp] * (_PIECES * len(contents))
        self._pieces[1::_PIECES] = " ".join(message_ids).encode().split()
        self._pieces[3::_PIECES] = rests

    def change(self, index: int, message: JsonObject) -> None:
        """Replace the message at `index` by one with the same id and time."""
        self.messages[index] = message
        self._pieces[_PIECES * index + 3] = _rest_of(message)

    def lines(self) -> Iterator[bytes]:
        """The lines of the messages, each followed by its time."""
        ended = b'\n{"$set":{"lastUpdated":"%b"}}\n' % self._timestamp
        yield from self._joined(len(self.messages), ended)
        if self.messages:
            yield ended

    def texts(self, count: int) -> Iterator[bytes]:
        """The first `count` messages, with commas between them."""
        return self._joined(count, b",")

    def shared(self, history: Sequence[HistoryTurn]) -> int:
        """How many of the first turns of `history` equal the recorded ones, with their ids."""
        same = shared_prefix(self._contents, [content for _, content in history])
        named = [turn_id for turn_id, _ in history[:same]]
        return same if named == self._message_ids[:same] else 0

    def _joined(self, count: int, between: bytes) -> Iterator[bytes]:
        """Join in portions, which need less memory at once."""
        begun = between + _BEGUN
        for start in range(0, count, _PORTION):
            end = min(start + _PORTION, count)
            pieces = self._pieces[_PIECES * start : _PIECES * end]
            pieces[::_PIECES] = [begun if start else _BEGUN, *[begun] * (end - start - 1)]
            yield b"".join(pieces)


class HistoryTexts:
    """Records one conversation's history, however often it is replaced."""

    def __init__(self) -> None:
        self._contents: Sequence[Content] = ()
        self._rests: list[bytes | None] = []

    def rewritten(
        self,
        contents: Sequence[Content],
        message_ids: Sequence[str],
        timestamp: str,
        said: JsonObject,
    ) -> Rewritten:
        """The messages of `contents`.

        Args:
            contents: the history, oldest first; the list is not changed any more.
            message_ids: the new ids, in the same order: UUIDs.
            timestamp: when it is recorded.
            said: thoughts and tokens for the first answer's message.
        """
        known = shared_prefix(self._contents, contents)
        rests = [
            rest or _rest(content)
            for rest, content in zip(self._rests[:known], contents, strict=False)
        ]
        rests += map(_rest, contents[known:])
        self._contents = contents
        self._rests = [rest if len(rest) <= _KEPT_UP_TO else None for rest in rests]
        found = Rewritten(contents, message_ids, timestamp, rests)
        if said:
            index = next(i for i, m in enumerate(found.messages) if m["type"] == "gemini")
            found.change(index, found.messages[index] | said)
        return found


def checkpoint_line(
    messages: Sequence[JsonObject], written: Rewritten | None, known: int, timestamp: str
) -> Iterator[bytes]:
    """The line from which on `messages` are all there are, in portions.

    Args:
        messages: what the conversation consists of, oldest first.
        written: what was just written.
        known: how many of the first of `messages` are the first of those.
        timestamp: when it is written.
    """
    others = b",".join([js_json(message).encode() for message in messages[known:]])
    yield b'{"$set":{"messages":['
    if written is not None:
        yield from written.texts(known)
    yield b",%b" % others if known and others else others
    yield b'],"lastUpdated":"%b"}}\n' % timestamp.encode()


def _rest(content: Content) -> bytes:
    return _rest_of(history_message("", "", content))


def _rest_of(message: JsonObject) -> bytes:
    """The text of a message from its type on."""
    rest = {key: value for key, value in message.items() if key not in ("id", "timestamp")}
    return js_json(rest).encode()[1:]
