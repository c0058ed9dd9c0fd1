"""The conversations that a user saved under a tag, in the project's temporary folder.

Source: core `core/logger.ts` (`saveCheckpoint`, `loadCheckpoint`, `deleteCheckpoint`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from services.clock import iso_timestamp
from services.private_files import make_private_folder, write_private
from services.regular_files import read_regular
from services.wire import Content, js_json_pretty
from surfaces.commands.contract import CommandError

__all__ = ["ChatTags", "SavedChat", "Tag"]

_PREFIX: Final = "checkpoint-"
_SUFFIX: Final = ".json"
_MOST_BYTES: Final = 256 * 1024 * 1024
_UNQUOTED: Final = "!'()*~-_."
"""What JavaScript's `encodeURIComponent` leaves as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A saved conversation: its tag, and when it was saved (ISO 8601)."""

    name: str
    saved: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedChat:
    """A saved conversation, oldest content first."""

    history: Sequence[Content] = ()
    auth_type: str | None = None


class ChatTags:
    """The saved conversations of one project."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the project's temporary folder; it may not exist yet."""
        self._folder = folder

    def all(self) -> list[Tag]:
        """Every tag, oldest first."""
        found: list[tuple[float, str]] = []
        for file in self._folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            name = unquote(file.name[len(_PREFIX) : -len(_SUFFIX)])
            found.append((file.stat().st_mtime, name))
        return [Tag(name=name, saved=iso_timestamp(int(at * 1000))) for at, name in sorted(found)]

    def has(self, tag: str) -> bool:
        """Whether a conversation is saved as `tag`."""
        return any(file.exists() for file in self._files(tag))

    def save(self, tag: str, chat: SavedChat) -> None:
        """Save a conversation, in place of one with the same tag.

        Raises:
            CommandError: the file cannot be written.
        """
        saved = {"history": list(chat.history), "authType": chat.auth_type}
        try:
            make_private_folder(self._folder)
            write_private(self._files(tag)[0], js_json_pretty(saved).encode(), draft=True)
        except OSError as error:
            raise CommandError(f"The conversation cannot be saved: {error}") from error

    def load(self, tag: str) -> SavedChat:
        """The conversation that is saved as `tag`; an empty one if there is none.

        Raises:
            CommandError: the file cannot be read, or holds no conversation.
        """
        file = next((file for file in self._files(tag) if file.exists()), None)
        if file is None:
            return SavedChat()
        try:
            found = json.loads(read_regular(file, _MOST_BYTES))
        except (OSError, ValueError, RecursionError) as error:
            raise CommandError(f"The saved conversation {file} cannot be read: {error}") from error
        history = found.get("history") if isinstance(found, dict) else found
        if not isinstance(history, list) or not all(map(_is_content, history)):
            raise CommandError(f"{file} holds no conversation; delete it with /chat delete {tag}")
        auth_type = found.get("authType") if isinstance(found, dict) else None
        return SavedChat(
            history=history, auth_type=auth_type if isinstance(auth_type, str) else None
        )

    def delete(self, tag: str) -> bool:
        """Delete the conversation that is saved as `tag`; return whether there was one.

        Raises:
            CommandError: it cannot be deleted.
        """
        there = [file for file in self._files(tag) if file.exists()]
        try:
            for file in there:
                file.unlink()
        except OSError as error:
            raise CommandError(f"The saved conversation cannot be deleted: {error}") from error
        return bool(there)

    def _files(self, tag: str) -> list[Path]:
        """The file of a tag, and where old versions of the published command line put it."""
        names = [quote(tag, safe=_UNQUOTED)]
        if "/" not in tag and "\0" not in tag:
            names.append(tag)
        return [self._folder / f"{_PREFIX}{name}{_SUFFIX}" for name in dict.fromkeys(names)]


def _is_content(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)
