"""Paths in a cassette: relative, and inside their folder."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final

from harness.cassette.fields import Fields
from harness.cassette.problems import FormatProblem, kind_of
from services.wire import Json

__all__ = ["MAX_FILES", "check_recordings", "inside", "read_files"]

MAX_FILES: Final = 10_000
"""The most files of a workspace or home; each run writes them all."""

_RECORDINGS: Final = ".gemini/tmp/ws/chats"
"""The folder of the session's recordings in a run's home."""
_MOST_OF_A_PATH: Final = 2_000
_MOST_OF_A_NAME: Final = 255
"""What file systems hold, with room for the folder of a run."""
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_PLACEHOLDER: Final = re.compile(r"<[A-Z_]+>")
"""Filled in later, it could make an absolute path of a relative one."""


def inside(path: str, key: str) -> str:
    """Return `path` if it is relative, with `/`, and stays inside its folder.

    Raises:
        FormatProblem: it does not stay inside.
    """
    parts = path.split("/")
    problem = None
    if path.startswith(("/", "~")) or _DRIVE.match(path):
        problem = "is absolute"
    elif ".." in parts:
        problem = "leads out of its folder"
    elif len(path.encode("utf-8", "replace")) > _MOST_OF_A_PATH:
        problem = f"is longer than {_MOST_OF_A_PATH} bytes"
    elif any(len(part.encode("utf-8", "replace")) > _MOST_OF_A_NAME for part in parts):
        problem = f"has a name in it that is longer than {_MOST_OF_A_NAME} bytes"
    elif "\\" in path or "\0" in path:
        problem = "has a character that paths here may not have"
    elif _PLACEHOLDER.search(path):
        problem = "has a placeholder in it"
    elif any(part in ("", ".") for part in parts):
        problem = "is not the plain path of a file"
    if problem is not None:
        mend = "write a path relative to the workspace or home, such as src/a.txt"
        raise FormatProblem(key, f"the path {path!r} {problem}", mend)
    return path


def read_files(files: Json, key: str) -> dict[str, str | bytes]:
    """`files` or `home_files`: path → text or bytes."""
    if not isinstance(files, dict):
        raise FormatProblem(key, f"must be a mapping, not {kind_of(files)}", "write `path: text`")
    if len(files) > MAX_FILES:
        problem = f"names {len(files):,} files, more than {MAX_FILES:,}"
        raise FormatProblem(key, problem, "let a script's first send make them, or use fewer")
    contents: dict[str, str | bytes] = {}
    for path, value in files.items():
        here = f"{key}.{path}"
        contents[inside(path, here)] = _content(value, here)
    for path in contents:
        parts = path.split("/")
        for length in range(1, len(parts)):
            folder = "/".join(parts[:length])
            if folder in contents:
                problem = f"{folder!r} is a file, and the folder of {path!r}"
                raise FormatProblem(f"{key}.{folder}", problem, "rename one of them")
    return contents


def check_recordings(home_files: Mapping[str, str | bytes], resumed: str | None) -> None:
    """Check that `home_files` do not collide with the run's recordings.

    Args:
        home_files: As `read_files` returns them.
        resumed: The file of the recording that `resume` writes, if it does.

    Raises:
        FormatProblem: a file stands where their folder is, or is the resumed recording.
    """
    for path in home_files:
        problem = None
        if f"{_RECORDINGS}/".startswith(f"{path}/"):
            problem = "is where the run has the folder of its recordings"
        elif resumed and f"{path}/".startswith(f"{_RECORDINGS}/{resumed}/"):
            problem = "is where `resume` writes its recording"
        if problem is not None:
            raise FormatProblem(f"home_files.{path}", problem, "name the file otherwise")


def _content(value: Json, key: str) -> str | bytes:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        problem = f"must be text or {{base64: …}}, not {kind_of(value)}"
        raise FormatProblem(key, problem, "quote the text")
    encoded = Fields(value, key, ("base64",)).text("base64")
    try:
        return base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        problem = f"is not base64: {error}"
        raise FormatProblem(f"{key}.base64", problem, "encode the bytes again") from error
