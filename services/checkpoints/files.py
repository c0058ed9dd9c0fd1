"""`CheckpointFiles`: the checkpoints of a project, one JSON file each.

Source: core `utils/checkpointUtils.ts`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.clock import iso_timestamp
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import Content, Json, JsonObject, js_json_pretty

__all__ = ["Checkpoint", "CheckpointFiles", "CheckpointInvalid", "checkpoint_name"]

_SUFFIX: Final = ".json"


class CheckpointInvalid(ValueError):
    """A file is no checkpoint; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The conversation and the workspace before an edit."""

    name: str
    """The tool that was to make the edit."""
    args: JsonObject
    commit: str | None
    """The snapshot of the workspace; `None`: the workspace is not restored."""
    history: Sequence[Content] | None
    """The model-facing history; `None`: the conversation is not restored."""
    shown: Sequence[Json] | None
    """What the surface showed of the conversation, in its own form."""
    prompt_id: str | None = None

    def to_json(self) -> JsonObject:
        """The file's content."""
        found: dict[str, Any] = {
            "history": self.shown,
            "clientHistory": self.history,
            "toolCall": {"name": self.name, "args": self.args},
            "commitHash": self.commit,
            "messageId": self.prompt_id,
        }
        return {key: value for key, value in found.items() if value is not None}


def checkpoint_name(name: str, args: JsonObject, now_ms: int) -> str | None:
    """The name of the checkpoint before a call; `None` if the call names no file."""
    path = args.get("file_path")
    if not isinstance(path, str) or not path:
        return None
    stamp = iso_timestamp(now_ms).replace(":", "-").replace(".", "_")
    return f"{stamp}-{path.rstrip('/').rpartition('/')[2]}-{name}"


class CheckpointFiles:
    """The files in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """The names of the checkpoints, oldest first; none if there is no folder.

        Raises:
            OSError: the folder cannot be read.
        """
        try:
            entries = sorted(entry.name for entry in self.folder.iterdir())
        except FileNotFoundError:
            return []
        return [name.removesuffix(_SUFFIX) for name in entries if name.endswith(_SUFFIX)]

    def write(self, name: str, checkpoint: Checkpoint) -> None:
        """Write a checkpoint.

        Raises:
            OSError: the file cannot be written.
        """
        make_private_folder(self.folder)
        text = js_json_pretty(checkpoint.to_json())
        write_private(self.folder / f"{name}{_SUFFIX}", text.encode())

    def read(self, name: str) -> Checkpoint:
        """Read a checkpoint, which `names` must have listed.

        Raises:
            CheckpointInvalid: it is no checkpoint.
            OSError: it cannot be read.
        """
        try:
            document = json.loads(read_regular(self.folder / f"{name}{_SUFFIX}", MOST_TEXT))
        except (ValueError, RecursionError) as error:
            raise CheckpointInvalid("it is not JSON") from error
        return _checkpoint(document)


def _checkpoint(document: Json) -> Checkpoint:
    if not isinstance(document, dict):
        raise CheckpointInvalid("it is not a JSON object")
    call = document.get("toolCall")
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise CheckpointInvalid("`toolCall.name` is not a text")
    if not isinstance(call.get("args"), dict):
        raise CheckpointInvalid("`toolCall.args` is not an object")
    for key in ("commitHash", "messageId"):
        if not isinstance(document.get(key, ""), str):
            raise CheckpointInvalid(f"`{key}` is not a text")
    shown, history = document.get("history"), document.get("clientHistory")
    if "history" in document and not isinstance(shown, list):
        raise CheckpointInvalid("`history` is not a list")
    if "clientHistory" in document and not _is_history(history):
        raise CheckpointInvalid("`clientHistory` is not a list of contents")
    return Checkpoint(
        name=call["name"],
        args=call["args"],
        commit=document.get("commitHash"),
        history=history,
        shown=shown,
        prompt_id=document.get("messageId"),
    )


def _is_history(history: Json) -> bool:
    return isinstance(history, list) and all(
        isinstance(content, dict)
        and isinstance(content.get("role", ""), str)
        and isinstance(content.get("parts"), list)
        and all(isinstance(part, dict) for part in content["parts"])
        for content in history
    )
