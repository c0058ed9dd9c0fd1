"""Converts errors of the SDK and httpx to upstream's messages and codes, which decide on retries.

Source: core `utils/retry.ts`; undici's errors; google-genai's
`throwErrorIfNotOK` and `processStreamResponse` in its `_api_client`.
"""

from __future__ import annotations

import errno
import json
import socket
import ssl
from collections.abc import Iterator

from services.model.errors import ApiError, NetworkError
from services.wire import Json, js_json

__all__ = ["api_error", "causes", "network_error", "unreadable_answer"]


def network_error(error: Exception, *, answering: bool) -> NetworkError:
    """Convert `error`, which is one of httpx or of httpx2.

    `answering`: whether the response had begun, so that `fetch` had returned and its body broke.
    """
    code = _code(error, answering=answering)
    if answering:
        return NetworkError("terminated", name="TypeError", code=code, cause=error)
    message = "exception TypeError: fetch failed sending request"
    return NetworkError(message, code=code, cause=error)


def _code(error: Exception, *, answering: bool) -> str | None:
    for underlying in causes(error):
        code = _system_code(underlying)
        if code is not None:
            return code
    # The classes of httpx and httpx2 have the same names.
    names = {each.__name__ for each in type(error).__mro__}
    if names & {"ConnectTimeout", "PoolTimeout"}:
        return "UND_ERR_CONNECT_TIMEOUT"
    if "ReadTimeout" in names:
        return "UND_ERR_BODY_TIMEOUT" if answering else "UND_ERR_HEADERS_TIMEOUT"
    if "TimeoutException" in names:
        return "ETIMEDOUT"
    if "RemoteProtocolError" in names:
        return "UND_ERR_SOCKET"
    if "NetworkError" in names:
        return "ECONNREFUSED" if "ConnectError" in names else "ECONNRESET"
    return None


def _system_code(error: BaseException) -> str | None:
    if isinstance(error, socket.gaierror):
        return "EAI_AGAIN" if error.errno == socket.EAI_AGAIN else "ENOTFOUND"
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "SSL_ERROR").upper().replace(" ", "_")
        return f"ERR_SSL_{reason}"
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno)
    return None


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and its causes, outermost first, with every member of a group."""
    pending: list[BaseException] = [error]
    seen: set[int] = set()
    while pending:
        current = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            pending.extend(current.exceptions)
        underlying = current.__cause__ or current.__context__
        if underlying is not None:
            pending.append(underlying)


def api_error(status: int | None, grpc: str | None, body: Json, *, answering: bool) -> ApiError:
    """Convert a refusal.

    Args:
        status: The HTTP status, or the code of an error event.
        grpc: The status' name or the HTTP reason.
        body: The response as the SDK parsed it; `{message, status}` when it was not JSON.
        answering: True for an error event in a stream.
    """
    if not isinstance(body, dict) or "error" not in body:
        # Not the API's JSON: a proxy's page, or an empty body.
        message = body.get("message") if isinstance(body, dict) else str(body)
        body = {"error": {"message": message or "", "code": status, "status": grpc or ""}}
    text = js_json(body)
    return ApiError(int(status or 500), f"got status: {grpc}. {text}" if answering else text)


def unreadable_answer(error: ValueError) -> NetworkError:
    """Convert unreadable JSON: cut JSON is a lost connection, other JSON a broken response."""
    cause = error if isinstance(error, json.JSONDecodeError) else error.__cause__
    if isinstance(cause, json.JSONDecodeError):
        cut = cause.pos >= len(cause.doc.rstrip()) or cause.msg.startswith("Unterminated string")
        if cut:
            return NetworkError("Incomplete JSON segment at the end", cause=error)
        return NetworkError(str(cause), name="SyntaxError", cause=error)
    return NetworkError(str(error), cause=error)
