"""Failures of the network, as the errors of a client's library."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from types import ModuleType
from typing import Final

from services.model.errors import NetworkError

__all__ = ["library_failure"]

_KINDS: Final[Mapping[str, str]] = {
    "UND_ERR_CONNECT_TIMEOUT": "ConnectTimeout",
    "UND_ERR_HEADERS_TIMEOUT": "ReadTimeout",
    "UND_ERR_BODY_TIMEOUT": "ReadTimeout",
    "ETIMEDOUT": "ConnectTimeout",
    "UND_ERR_SOCKET": "RemoteProtocolError",
}
"""The codes of undici's errors, and of those like them, and the errors of httpx for the same."""


def library_failure(library: ModuleType, error: NetworkError, *, answering: bool) -> Exception:
    """Return the error of httpx or httpx2 for a failure of the network, with its cause.

    `answering`: whether the answer had begun.
    """
    code = error.code or _code_of(error.cause)
    kind = _KINDS.get(code or "", "ReadError" if answering else "ConnectError")
    found: Exception = getattr(library, kind)(str(error))
    number = getattr(errno, code or "", None)
    if code in ("ENOTFOUND", "EAI_AGAIN"):
        name = socket.EAI_AGAIN if code == "EAI_AGAIN" else socket.EAI_NONAME
        found.__cause__ = socket.gaierror(name, str(error))
    elif isinstance(number, int):
        found.__cause__ = OSError(number, str(error))
    return found


def _code_of(cause: object) -> str | None:
    code = cause.get("code") if isinstance(cause, Mapping) else getattr(cause, "code", None)
    return code if isinstance(code, str) else None
