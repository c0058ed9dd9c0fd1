"""Makes a recording's messages follow the model-facing history.

Source: core `services/chatRecordingService.ts` (`updateMessagesFromHistory`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from services.recording.records import HistoryTurn
from services.wire import Json, JsonObject

__all__ = ["followed"]


def followed(
    messages: Sequence[JsonObject],
    positions: Mapping[str, int],
    history: Sequence[HistoryTurn],
    new_message: Callable[[str, Json, str], JsonObject],
    ready: Sequence[JsonObject] = (),
) -> list[JsonObject] | None:
    """The messages that `history` requires, or `None` where they are the same.

    Unknown ids become new messages, messages that the history lacks are dropped, and a function
    response becomes the result of the tool call it answers.

    Args:
        messages: what is recorded, oldest first.
        positions: where in `messages` each id is.
        history: the turns, oldest first.
        new_message: makes a message of type, content and id.
        ready: those of `messages` that the first turns of `history` are known to be. They have no
            tool call records.
    """
    updated = False
    result = list(ready)
    for turn_id, content in history[len(ready) :]:
        known = positions.get(turn_id)
        parts = content.get("parts") or []
        if known is None:
            updated = True
            kind = "user" if content.get("role") == "user" else "gemini"
            result.append(new_message(kind, parts, turn_id))
            continue
        existing = messages[known]
        if existing.get("content") is parts:
            result.append(existing)
            continue
        updated = updated or not _same_json(existing.get("content"), content.get("parts"))
        result.append({**existing, "content": parts})
    updated = _sync_results(result, history, len(ready)) or updated
    return result if updated or len(result) != len(messages) else None


def _sync_results(messages: list[JsonObject], history: Sequence[HistoryTurn], start: int) -> bool:
    """Give each tool call record the parts of the turn that answered it; True if one changed.

    Records are looked for from `start` on.
    """
    holders: dict[Json, tuple[int, int]] = {}
    for place, message in enumerate(messages[start:], start):
        calls = message.get("toolCalls") if message.get("type") == "gemini" else None
        for position, record in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(record, dict) and isinstance(record.get("id"), str):
                holders.setdefault(record["id"], (place, position))
    if not holders:
        return False
    updated = False
    for _, content in history:
        if content.get("role") != "user":
            continue
        parts = content.get("parts") or []
        for part in parts:
            response = part.get("functionResponse")
            holder = holders.get(response.get("id")) if response else None
            if holder is None:
                continue
            place, position = holder
            message = messages[place]
            if not _same_json(message["toolCalls"][position].get("result"), parts):
                calls = list(message["toolCalls"])
                calls[position] = {**calls[position], "result": parts}
                messages[place] = {**message, "toolCalls": calls}
                updated = True
    return updated


def _same_json(one: Json, other: Json) -> bool:
    """Whether both would be the same JSON text, the order of keys included."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_json, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return bool(one == other)
