"""The chat recordings of a run: what they are called, what is in them, which one is the newest."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["latest_recording", "recordings"]


def recordings(folder: Path) -> dict[str, list[object]]:
    """Each chat recording's lines, parsed; a line that is no JSON is kept as its text."""
    found: dict[str, list[object]] = {}
    for path in sorted(folder.glob("tmp/*/chats/**/*.json*")):
        if not path.is_file():
            continue
        # Not `splitlines`: a line's JSON may hold other characters that end lines, such as U+2028.
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        found[path.relative_to(folder).as_posix()] = [_parsed(line) for line in lines if line]
    return found


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def latest_recording(chats: Path) -> Path | None:
    """The main session's chat recording that was written to last; `None` without any."""
    files = [path for path in chats.glob("*.json*") if path.is_file()]
    return max(files, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)
