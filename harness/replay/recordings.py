"""Reads the chat recordings of a run."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["latest_recording", "recordings"]


def recordings(folder: Path) -> dict[str, list[object]]:
    """Path of each chat recording → its lines, parsed; a line that is no JSON stays text."""
    found: dict[str, list[object]] = {}
    for path in sorted(folder.glob("tmp/*/chats/**/*.json*")):
        if not path.is_file():
            continue
        # Not `splitlines`: JSON may contain other line separators, such as U+2028.
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        found[path.relative_to(folder).as_posix()] = [_parsed(line) for line in lines if line]
    return found


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def latest_recording(chats: Path) -> Path | None:
    """The main session's newest chat recording; `None` without any."""
    files = [path for path in chats.glob("*.json*") if path.is_file()]
    return max(files, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)
