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
    "EAGAIN": "resource temporarily unavailable",
    "EBADF": "bad file descriptor",
    "EBUSY": "resource busy or locked",
    "EEXIST": "file already exists",
    "EFBIG": "file too large",
    "EINTR": "interrupted system call",
    "EINVAL": "invalid argument",
    "EIO": "i/o error",
    "EISDIR": "illegal operation on a directory",
    "ELOOP": "too many symbolic links encountered",
    "EMFILE": "too many open files",
    "EMLINK": "too many links",
    "ENAMETOOLONG": "name too long",
    "ENFILE": "file table overflow",
    "ENODATA": "no data available",
    "ENODEV": "no such device",
    "ENOENT": "no such file or directory",
    "ENOMEM": "not enough memory",
    "ENOSPC": "no space left on device",
    "ENOSYS": "function not implemented",
    "ENOTDIR": "not a directory",
    "ENOTEMPTY": "directory not empty",
    "ENOTTY": "inappropriate ioctl for device",
    "ENXIO": "no such device or address",
    "EOVERFLOW": "value too large for defined data type",
    "EPERM": "operation not permitted",
    "EPIPE": "broken pipe",
    "EROFS": "read-only file system",
    "ESPIPE": "invalid seek",
    "ETXTBSY": "text file is busy",
    "EXDEV": "cross-device link not permitted",
}


def error_code(error: OSError) -> str:
    """The error's symbolic code, `ENOENT` for example; `UNKNOWN` when it has none."""
    notice(error)
    return _code(error)


def node_error_message(error: OSError, syscall: str, path: object = None) -> str:
    """`ENOENT: no such file or directory, open '/x'`.

    Args:
        error: what Python raised.
        syscall: the name Node would give the call: `open`, `stat`, `scandir`, `mkdir`, `read`.
        path: the path the call was about; left out for calls on an open file.
    """
    notice(error, path)
    code = _code(error)
    meaning = _MEANINGS.get(code, error.strerror or "unknown error")
    where = "" if path is None else f" '{path}'"
    return f"{code}: {meaning}, {syscall}{where}"


def _code(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "UNKNOWN")
