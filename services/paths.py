"""Paths as Node and upstream resolve them.

Source: core `utils/paths.ts` (`resolveToRealPath`), Node's `path.extname`.
"""

from __future__ import annotations

import errno
import os
import os.path
import re
import stat
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from services.node_errors import node_error_message

__all__ = ["InvalidPath", "extension", "is_text", "real_path"]

_MISSING: Final = frozenset({errno.ENOENT, errno.EISDIR, errno.ENAMETOOLONG, errno.ENOTDIR})
_MALFORMED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class InvalidPath(ValueError):
    """A path that cannot be resolved: it holds a NUL, or its links go in a circle."""


def is_text(name: str) -> bool:
    """Whether a name from the file system is text; a model cannot get other names.

    Node shows such names with replacement characters, and finds no file of that name then.
    """
    return name.isascii() or not any("\ud800" <= each <= "\udfff" for each in name)


def extension(path: str) -> str:
    """The last extension with its dot (`.gz` of `a.tar.gz`); empty for `.profile` and `a.`-less."""
    name = path.rsplit("/", 1)[-1]
    dot = name.rfind(".")
    return name[dot:] if dot > 0 and name != ".." else ""


def real_path(path: str | Path, base: Path | None = None) -> Path:
    """`path` with percent escapes decoded and links resolved, whether it exists or not.

    Args:
        path: absolute, or relative to `base`, whose own name is taken literally.
        base: the process's own folder unless given.

    Raises:
        InvalidPath: it holds a NUL, or its links go in a circle.
        OSError: a folder on the way may not be read.
    """
    text = str(path)
    if "\0" in text:
        raise InvalidPath(f"Invalid path: {text}")
    seen = os.path.join(base or "", _decoded(text))  # noqa: PTH118 - text in, text out
    return Path(_resolve(os.path.abspath(seen), set()))  # noqa: PTH100 - lexical


def _decoded(text: str) -> str:
    """`text` without escapes, and the path of a `file:` URL; what Node cannot decode stays."""
    if text.startswith("file://"):
        path = re.split("[?#]", text.removeprefix("file://"))[0]
        if path[:1] not in ("", "/") or "%2f" in path.lower():
            return text
        inner = _decode(path)
        if inner is None:
            return text
        text = inner or "/"
    return _decode(text) or text


def _decode(text: str) -> str | None:
    if _MALFORMED.search(text):
        return None
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return None


def _resolve(path: str, visited: set[str]) -> str:
    missing: list[str] = []
    while True:
        if path in visited:
            raise InvalidPath(f"Infinite recursion detected in robustRealpath: {path}")
        visited.add(path)
        try:
            return _joined(os.path.realpath(path, strict=True), missing)
        except OSError as error:
            if error.errno not in _MISSING:
                raise InvalidPath(_refusal(error)) from error
        if (target := _link_target(path)) is not None:
            path = target
            continue
        parent, name = os.path.split(path)
        if parent == path:
            return _joined(path, missing)
        missing.append(name)
        path = parent


def _joined(folder: str, below: list[str]) -> str:
    return os.path.join(folder, *reversed(below))  # noqa: PTH118 - text in, text out


def _refusal(error: OSError) -> str:
    """Node's message: it calls `lstat` at each step, and `stat` for a cycle of links."""
    call = "stat" if error.errno == errno.ELOOP else "lstat"
    return node_error_message(error, call, error.filename)


def _link_target(path: str) -> str | None:
    """The target of the link `path`; `None` if it is missing or no link."""
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            folder = os.path.dirname(path)  # noqa: PTH120 - Path would drop `..` and `.`
            target = os.path.join(folder, os.readlink(path))  # noqa: PTH115, PTH118 - likewise
            return os.path.normpath(target)
    except OSError as error:
        if error.errno not in _MISSING:
            raise
    return None
