"""The edits of files that a chat recording holds: in the results of its tool calls.

A recording may come from outside, so every value is checked.

Source: core `utils/fileDiffUtils.ts`; gemini-cli `packages/cli/src/ui/utils/rewindFileOps.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from services.wire import Json, JsonObject

__all__ = ["Change", "RecordedEdit", "change_of_turn", "change_since", "edits_after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEdit:
    """One edit of one file by a tool."""

    name: str
    """The file's name without its folder, for messages."""
    path: str
    before: str
    after: str
    is_new: bool
    """Whether the edit created the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The size of several edits. Lines are those of the model, without the user's own."""

    added_lines: int
    removed_lines: int
    file_count: int
    """Different file names: two files of one name count once."""
    details: tuple[tuple[str, str], ...]
    """File name and patch of each edit, in the order of the edits."""


def edits_after(
    messages: Sequence[JsonObject], message_id: str
) -> list[RecordedEdit | JsonObject] | None:
    """The edits after a message, newest first; `None` if there is no such message.

    An edit that cannot be understood is given as it was recorded.
    """
    place = _place(messages, message_id)
    if place is None:
        return None
    return [_edit(shown) for shown in reversed(list(_displays(messages[place + 1 :])))]


def change_of_turn(messages: Sequence[JsonObject], message_id: str) -> Change | None:
    """The edits between a message of the user and the next one; `None` without edits."""
    place = _place(messages, message_id)
    if place is None:
        return None
    later = messages[place + 1 :]
    return _change(list(takewhile(lambda message: message.get("type") != "user", later)))


def change_since(messages: Sequence[JsonObject], message_id: str) -> Change | None:
    """All edits after a message; `None` without edits."""
    place = _place(messages, message_id)
    return None if place is None else _change(messages[place + 1 :])


def _place(messages: Sequence[JsonObject], message_id: str) -> int | None:
    places = (at for at, message in enumerate(messages) if message.get("id") == message_id)
    return next(places, None)


def _displays(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """The results of edits, oldest first."""
    for message in messages:
        calls = message.get("toolCalls")
        if message.get("type") != "gemini" or not isinstance(calls, list):
            continue
        for call in calls:
            shown = call.get("resultDisplay") if isinstance(call, dict) else None
            if isinstance(shown, dict) and isinstance(shown.get("diffStat"), (dict, list)):
                yield shown


def _edit(shown: JsonObject) -> RecordedEdit | JsonObject:
    name, path, after = (shown.get(key) for key in ("fileName", "filePath", "newContent"))
    before = shown.get("originalContent") or ""
    if not (
        isinstance(name, str)
        and isinstance(path, str)
        and isinstance(after, str)
        and isinstance(before, str)
    ):
        return shown
    return RecordedEdit(
        name=name, path=path, before=before, after=after, is_new=bool(shown.get("isNewFile"))
    )


def _change(messages: Sequence[JsonObject]) -> Change | None:
    displays = list(_displays(messages))
    if not displays:
        return None
    return Change(
        added_lines=sum(_lines(shown, "model_added_lines") for shown in displays),
        removed_lines=sum(_lines(shown, "model_removed_lines") for shown in displays),
        file_count=len({_text(shown.get("fileName")) for shown in displays}),
        details=tuple(
            (_text(shown.get("fileName")), _text(shown.get("fileDiff"))) for shown in displays
        ),
    )


def _lines(shown: JsonObject, key: str) -> int:
    stat = shown["diffStat"]
    count = stat.get(key) if isinstance(stat, dict) else None
    return count if isinstance(count, int) else 0


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
