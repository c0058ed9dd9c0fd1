"""Node's messages for Python's file system errors.

The model gets them: the core passes `Error.message` of `fs` calls on. Source: libuv's error table.
"""

from __future__ import annotations

import errno
from typing import Final

from services.exhaustion import notice

__all__ = ["error_code", "node_error_message"]

_MEANINGS: Final = {
    "E2BIG": "argument list too long",
    "EACCES": "permission denied",
    "EBUSY": "resource busy or locked",
    "EEXIST": "file already exists",
    "EFBIG": "file too large",
    "EINVAL": "invalid argument",
    "EIO": "i/o error",
    "EISDIR": "illegal operation on a directory",
    "ELOOP": "too many symbolic links encountered",
    "EMFILE": "too many open files",
    "ENAMETOOLONG": "name too long",
    "ENFILE": "file table overflow",
    "ENODEV": "no such device",
    "ENOENT": "no such file or directory",
    "ENOMEM": "not enough memory",
    "ENOSPC": "no space left on device",
    "ENOTDIR": "not a directory",
    "ENOTEMPTY": "directory not empty",
    "ENXIO": "no such device or address",
    "EPERM": "operation not permitted",
    "EROFS": "read-only file system",
    "ETXTBSY": "text file is busy",
    "EXDEV": "cross-device link not permitted",
}


def error_code(error: OSError) -> str:
    """The error's symbolic code, `ENOENT` for example; `UNKNOWN` when it has none."""
    notice(error)
    if error.errno is None:
        return "UNKNOWN"
    return errno.errorcode.get(error.errno, "UNKNOWN")


def node_error_message(error: OSError, syscall: str, path: object = None) -> str:
    """`ENOENT: no such file or directory, open '/x'`.

    Args:
        error: what Python raised.
        syscall: the name Node would give the call: `open`, `stat`, `scandir`, `mkdir`, `read`.
        path: the path the call was about; left out for calls on an open file.
    """
    notice(error, path)
    code = error_code(error)
    meaning = _MEANINGS.get(code, error.strerror or "unknown error")
    where = "" if path is None else f" '{path}'"
    return f"{code}: {meaning}, {syscall}{where}"
