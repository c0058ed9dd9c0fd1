"""Resolves, checks and shortens the paths in tools' arguments.

Source: core `utils/paths.ts`, `utils/path-validator.ts`, `utils/workspaceContext.ts` and
`Config.validatePathAccess`.
"""

from __future__ import annotations

import os
import os.path
import re
import stat
from pathlib import Path
from typing import Final

from services.paths import InvalidPath, real_path
from services.wire import js_length, js_slice
from services.workspace import Workspace

__all__ = [
    "absolute",
    "access_error",
    "exists",
    "make_relative",
    "relative_path",
    "strip_reference_prefix",
]

_LOG_FRAGMENT: Final = re.compile(
    r"(^|[/\\])(AssertionError:|FAIL |✓ |\u00d7 |TestingLibraryElementError:)"
)
_SHORT_NAMES: Final = (
    re.compile(r"(git|gi[0-9a-f]{4})~\d+"),
    re.compile(r"(env|en[0-9a-f]{4})~\d+"),
    re.compile(r"(node_m|no[0-9a-f]{4})~\d+"),
    re.compile(r"(gha-cr|gh[0-9a-f]{4})~\d+\.json?"),
)
_HALVES: Final = re.compile("[\\ud800-\\udfff]")
_MAX_PATH: Final = 4096
_MAX_COMPONENT: Final = 255
_SUSPICIOUS_LENGTH: Final = 20


def absolute(base: Path, path: str) -> str:
    """`path` relative to `base` as an absolute one, without `.` and `..`; links are not followed.

    Half a surrogate pair, which no file system accepts, becomes a replacement character.
    """
    whole = _HALVES.sub("\ufffd", path)
    return os.path.normpath(os.path.join(base, whole))  # noqa: PTH118 - folds `..`, as Path does not


def exists(path: str | Path) -> bool:
    """Whether `path` exists; a path that is too long does not."""
    return os.path.exists(path)  # noqa: PTH110 - `Path.exists` raises for long names


def relative_path(root: Path, path: str | Path) -> str:
    """`path` relative to `root`, with `..` steps for one outside; empty for the root itself."""
    found = os.path.relpath(path, root)
    return "" if found == "." else found


def make_relative(path: str, root: Path) -> str:
    """`path` for the user: relative to `root`, which is `.`; a relative one is returned itself."""
    if not os.path.isabs(path):  # noqa: PTH117 - text in, text out
        return path
    return os.path.relpath(path, root)


def strip_reference_prefix(path: str, root: Path) -> str:
    """`path` without NUL characters and without a leading `@`.

    Models copy `@src/a.py` from the user's message. If a file or folder has the `@` in its name,
    `path` keeps it.
    """
    cleaned = path.replace("\0", "")
    if exists(absolute(root, cleaned)) or not cleaned.startswith("@") or cleaned == "@":
        return cleaned
    stripped = cleaned[1:].lstrip("/\\")
    if cleaned[1] in "/\\":
        return stripped or cleaned
    first = re.split(r"[/\\]", stripped)[0]
    if not first or exists(root / f"@{first}"):
        return cleaned
    return stripped


def access_error(workspace: Workspace, path: str | Path) -> str | None:
    """The error for the model if tools may not use `path`, else `None`.

    Allowed are the workspace's folders except blocked names (`.git`, `.env`, `node_modules`,
    credentials), the project's temporary directory except the memory inbox, and the user's own
    context file.
    """
    text = str(path)
    if (fault := _malformed(text)) is not None:
        return f"Invalid path: {fault}"
    try:
        resolved = real_path(text)
    except (InvalidPath, OSError) as error:
        return str(error)
    stream = f"Path is a pipe, a socket or a device: {text}" if _is_stream(resolved) else None
    temp = workspace.project_temp
    inbox = temp / "memory" / ".inbox"
    if not (_within(real_path(inbox), resolved) or _within(inbox, Path(os.path.normpath(text)))):
        for folder in workspace.folders:
            root = real_path(folder)
            if _within(root, resolved) and not _blocked(relative_path(root, resolved)):
                return stream
        if _within(real_path(temp), resolved):
            return stream
        if resolved == real_path(workspace.home / ".gemini" / "GEMINI.md"):
            return stream
    folders = ", ".join(map(str, workspace.folders))
    return (
        f'Path not in workspace: Attempted path "{text}" resolves outside the allowed workspace '
        f"directories: {folders} or the project temp directory: {temp}"
    )


def _is_stream(path: Path) -> bool:
    """Whether reading or writing `path` could block without end, as in upstream's tools."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _within(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents


def _malformed(path: str) -> str | None:
    if not path:
        return "Path must be a non-empty string."
    if re.search(r"[\n\r\0\t]", path):
        return "Path contains invalid characters (newlines or control characters)."
    if _LOG_FRAGMENT.search(path):
        return "Path appears to be a misinterpreted log fragment."
    if ('"' in path or "..." in path) and js_length(path) > _SUSPICIOUS_LENGTH:
        return (
            "Path contains suspicious characters (double quotes or ellipses) and is too long to "
            "be a simple filename."
        )
    if js_length(path) > _MAX_PATH:
        return f"Path is too long (maximum {_MAX_PATH} characters)."
    for component in re.split(r"[/\\]", path):
        if js_length(component) > _MAX_COMPONENT:
            return (
                f'Path component "{js_slice(component, 0, 20)}..." is too long '
                f"(maximum {_MAX_COMPONENT} characters)."
            )
    return None


def _blocked(relative: str) -> bool:
    for segment in re.split(r"[/\\]", relative):
        name = segment.split(":")[0].rstrip(" .").lower()
        if name in {".git", ".env", "node_modules"}:
            return True
        if name.startswith("gha-creds-") and name.endswith(".json"):
            return True
        if any(pattern.fullmatch(name) for pattern in _SHORT_NAMES):
            return True
    return False
