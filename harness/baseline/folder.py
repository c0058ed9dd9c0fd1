"""A folder of baselines: which runtimes made it, and which of its files have no cassette.

Only the head of each file is read: the keys before the observation.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.baseline.files import baseline_file
from harness.cassette.document import MAX_BYTES
from harness.sides import baseline_folder
from services.regular_files import open_regular

__all__ = ["made_of", "superfluous"]

_HEAD_BYTES: Final = 8192


def made_of(sides: Sequence[str], names: Collection[str]) -> dict[str, str]:
    """Side to the makers of its baselines of the cassettes `names`, with a digest over the files.

    In words: `2 of upstream with gemini-cli-core 0.61.0 (digest …)`.
    """
    folders = {side: baseline_folder(side) for side in sides}
    return {
        side: _described(folder, names) for side, folder in folders.items() if folder is not None
    }


def _described(folder: Path, names: Collection[str]) -> str:
    makers: Counter[str] = Counter()
    running = hashlib.sha256()
    for name in sorted(names):
        file = baseline_file(folder, name)
        head = _head(file)
        if head is None:
            continue
        versions = head.get("versions")
        shown = dict(versions) if isinstance(versions, dict) else {}
        words = ", ".join(f"{key} {text}" for key, text in sorted(shown.items()))
        makers[f"{head['runtime']} with {words or 'unknown versions'}"] += 1
        running.update(f"{name}\0".encode())
        with open_regular(file) as stream:
            running.update(hashlib.file_digest(stream, "sha256").digest())
    if not makers:
        return "nothing that can be read"
    made = "; ".join(f"{count} of {maker}" for maker, count in makers.most_common())
    return f"{made} (digest {running.hexdigest()[:12]})"


def superfluous(folder: Path, names: Collection[str]) -> Mapping[str, Path]:
    """The baselines in `folder` of cassettes that are not among `names`, without other files."""
    found = {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for file in sorted(folder.rglob("*.json"))
    }
    return {
        name: file
        for name, file in found.items()
        if name not in names and (_head(file) or {}).get("name") == name
    }


def _head(file: Path) -> dict[str, Any] | None:
    """The keys before the observation; `None` if the file is no baseline."""
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            return None
        with open_regular(file) as stream:
            text = stream.read(_HEAD_BYTES).decode("ascii", "replace")
    except OSError:
        return None
    head, mark, _ = text.partition(',\n"observation":')
    try:
        value = json.loads(head + "}") if mark else None
    except (ValueError, RecursionError):
        return None
    known = isinstance(value, dict) and isinstance(value.get("runtime"), str) and "format" in value
    return value if known else None
