"""The initial files of a run, read before it starts.

Left out: version control, installed packages and caches, links, and files that usually hold keys.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.live.secrets import Scrubber, is_secret_file
from services.wire import Json, JsonObject

__all__ = ["MAX_FILES", "MAX_SEED_BYTES", "Seed", "read_home", "read_seed"]

MAX_FILES: Final = 2_000
MAX_SEED_BYTES: Final = 16 * 1024 * 1024
_MOST_WALKED: Final = 10 * MAX_FILES
"""Files that are looked at; those with secrets do not count as files of the cassette."""
_SKIPPED: Final = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"),
    }
)
_OF_HOME: Final = (
    *(".gemini/GEMINI.md", ".gemini/skills", ".gemini/policies"),
    *(".gemini/agents", ".gemini/acknowledgments"),
)
"""The parts of a home that affect runs, except settings, which a cassette stores elsewhere."""

_SIGNS_IN: Final = re.compile(rb"(?m)^[\s-]*(auth|headers|env)[ \t]*:")
"""Keys of an agent's definition that usually hold credentials."""


@dataclass(slots=True)
class Seed:
    """Files by path, as a cassette stores them, and the omitted files."""

    files: dict[str, Json] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    size: int = 0


def read_seed(root: Path, scrubber: Scrubber, *, without: Collection[Path] = ()) -> Seed:
    """Read the workspace at `root`, except the files of `without`.

    Raises:
        UsageError: it is too large for a cassette, or a file cannot be read.
    """
    seed = Seed()
    files = list(islice(_walk(root), _MOST_WALKED))
    if len(files) == _MOST_WALKED:
        raise _too_large()
    _add(seed, root, sorted(files), scrubber, without)
    return seed


def read_home(home: Path, scrubber: Scrubber) -> Seed:
    """Read the parts of the home that affect a run.

    Raises:
        UsageError: the same.
    """
    seed = Seed()
    for name in _OF_HOME:
        place = home / name
        files = sorted(_walk(place)) if place.is_dir() else [place] if place.is_file() else []
        _add(seed, home, files, scrubber, ())
    return seed


def _walk(root: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        for name in names:
            file = Path(place, name)
            if name not in _SKIPPED and not file.is_symlink() and file.is_file():
                yield file


def _add(
    seed: Seed, root: Path, files: list[Path], scrubber: Scrubber, without: Collection[Path]
) -> None:
    for file in files:
        name = file.relative_to(root).as_posix()
        if file.absolute() in without:
            continue
        if is_secret_file(name):
            seed.left_out.append(name)
            continue
        content = _read(file, seed)
        if ".gemini/agents/" in f"/{name}" and _SIGNS_IN.search(content):
            seed.left_out.append(name)
            continue
        shown = _content(content, scrubber)
        if shown is None:
            seed.left_out.append(name)
        else:
            seed.files[name] = shown


def _too_large() -> UsageError:
    limit = f"{MAX_FILES:,} files or {MAX_SEED_BYTES >> 20} MB"
    mend = "record in a smaller folder, or leave them out with --no-files"
    return UsageError(f"the workspace holds more than {limit}", mend)


def _read(file: Path, seed: Seed) -> bytes:
    try:
        seed.size += file.stat().st_size
        if seed.size > MAX_SEED_BYTES or len(seed.files) >= MAX_FILES:
            raise _too_large()
        return file.read_bytes()
    except OSError as error:
        mend = "make it readable, or leave files out with --no-files"
        raise UsageError(f"{file}: cannot be read: {error.strerror}", mend) from error


def _content(content: bytes, scrubber: Scrubber) -> str | JsonObject | None:
    """Return a file as a cassette stores it; `None` for bytes that contain a secret."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = None
    # YAML cannot represent other control characters, and reads a carriage return as a line break.
    if text is not None and all(c in "\n\t" or c.isprintable() for c in text):
        return scrubber.text(text)
    if scrubber.holds_secret(content):
        return None
    return {"base64": base64.b64encode(content).decode()}
