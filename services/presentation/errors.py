"""Errors as the fields of `error` events.

Source: gemini-cli `event-translator.ts` (`mapHttpToGrpcStatus`, `mapError`) and
`legacy-agent-session.ts`; reference `agent-protocol.md`, sections 6, 7 and 13.6.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from services.abort import AbortError
from services.exhaustion import notice
from services.model.errors import ModelError, UnauthorizedError, error_message, friendly_error
from services.wire import js_json

__all__ = [
    "ErrorFields",
    "StructuredError",
    "map_error",
    "model_failure",
    "status_name",
    "thrown_text",
    "unexpected_error",
]

_STATUS_NAMES: Mapping[float, str] = MappingProxyType(
    {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        409: "ALREADY_EXISTS",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        501: "UNIMPLEMENTED",
        503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED",
    }
)


@dataclass(frozen=True, slots=True)
class StructuredError:
    """A failed model request as the chat layer reports it; `status` is the HTTP status."""

    message: str
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFields:
    """The fields of an `error` event; `meta` is plain JSON."""

    status: str
    message: str
    fatal: bool = True
    meta: dict[str, Any] | None = None


def status_name(http_status: object) -> str:
    """The google.rpc name of an HTTP status; `INTERNAL` for any other."""
    if isinstance(http_status, (int, float)):
        return _STATUS_NAMES.get(http_status, "INTERNAL")
    return "INTERNAL"


def map_error(error: object) -> ErrorFields:
    """The event of an error that the model layer reported.

    An error with a `status` (which may be None) and a message is *structured*: the status is
    mapped, and kept with the message as `rawError`. An exception adds its name and codes. A
    mapping counts as the object it is upstream.
    """
    meta = _identity(error) if isinstance(error, BaseException) else {}
    structured = _as_structured(error)
    if structured is not None:
        message, status = structured
        raw = {"message": message} if status is None else {"message": message, "status": status}
        meta["rawError"] = raw
        if status is not None:
            meta["status"] = status
        return ErrorFields(status=status_name(status), message=message, meta=meta)
    return ErrorFields(status="INTERNAL", message=_as_text(error), meta=meta or None)


def model_failure(error: Exception) -> StructuredError:
    """How a failed model request is reported to clients. Source: core `core/turn.ts`.

    Raises:
        UnauthorizedError: the credentials were refused.
    """
    friendly = friendly_error(error)
    if isinstance(friendly, UnauthorizedError):
        raise friendly
    status = getattr(friendly, "status", None)
    return StructuredError(
        message=error_message(friendly), status=status if isinstance(status, int) else None
    )


def unexpected_error(error: BaseException) -> ErrorFields:
    """The event of an exception that escaped a run loop; always `INTERNAL`.

    `meta` has `errorName` and `stack`, and `exitCode`, `code` and `status` where the exception
    has them, from which a fatal error can be rebuilt.
    """
    identity = _identity(error)
    meta: dict[str, Any] = {
        "errorName": identity.pop("errorName"),
        "stack": "".join(traceback.format_exception(error)).rstrip(),
        **identity,
    }
    status = getattr(error, "status", None)
    if status is not None:
        meta["status"] = _json_scalar(status)
    return ErrorFields(status="INTERNAL", message=str(error), meta=meta)


def thrown_text(error: BaseException) -> str:
    """`String(error)`: the name and the message.

    Model errors and aborts have names of their own; any other exception is an `Error` there.
    """
    notice(error)
    name = error.name if isinstance(error, (ModelError, AbortError)) else "Error"
    message = str(error)
    return f"{name}: {message}" if message else name


def _identity(error: BaseException) -> dict[str, Any]:
    notice(error)
    meta: dict[str, Any] = {"errorName": _name(error)}
    exit_code = getattr(error, "exit_code", None)
    if isinstance(exit_code, (int, float)) and not isinstance(exit_code, bool):
        meta["exitCode"] = exit_code
    code = getattr(error, "code", None)
    if code is not None:
        meta["code"] = _json_scalar(code)
    return meta


def _name(error: BaseException) -> str:
    name = getattr(error, "name", None)
    # The `name` of these is the missing object's.
    if isinstance(error, (ImportError, NameError, AttributeError)) or not isinstance(name, str):
        return type(error).__name__
    return name or type(error).__name__


def _as_structured(error: object) -> tuple[str, Any] | None:
    if isinstance(error, StructuredError):
        return error.message, error.status
    if isinstance(error, BaseException) and hasattr(error, "status"):
        return str(error), _json_scalar(error.status)
    if isinstance(error, Mapping) and "status" in error and isinstance(error.get("message"), str):
        return error["message"], error["status"]
    return None


def _as_text(error: object) -> str:
    """`String(error)`."""
    if isinstance(error, Mapping):
        return "[object Object]"
    if error is None or isinstance(error, (bool, int, float)):
        return js_json(error)
    return str(error)


def _json_scalar(value: object) -> Any:
    """`value` as JSON; foreign exceptions have enumerations and objects in their codes."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    return int(value) if isinstance(value, int) else str(value)
