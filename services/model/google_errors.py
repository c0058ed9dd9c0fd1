"""Finds Google's structured API errors.

An error can arrive as the API's JSON, as an exception whose message is that JSON (perhaps nested),
as an HTTP client's `response.data`, or as a `cause`. `parse_google_error` looks in that order.
Source: core `utils/googleErrors.ts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.json_values import refuse_constant
from services.wire import Json, JsonObject

__all__ = ["GoogleError", "error_fields", "parse_google_error"]

_MAX_NESTING: Final = 10
_DOUBLE_COMMA: Final = re.compile(r",(\s*),")
_JS_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class GoogleError:
    """An error of the API; `details` are `google.rpc` messages, each with its `@type`."""

    code: int | float | str
    """An HTTP status, or a network error's code (`ECONNRESET`)."""
    message: str
    details: tuple[JsonObject, ...] = ()


def error_fields(value: object) -> Mapping[str, Json]:
    """Return an error's fields as upstream's code reads them.

    A mapping is returned as it is. An exception has `message` and those attributes of `code`,
    `status`, `cause` and `response` that are set; `__cause__` is not read.
    """
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, BaseException):
        return {}
    fields: JsonObject = {"message": str(value)}
    for key in ("code", "status", "cause", "response"):
        field = getattr(value, key, None)
        if field is not None:
            fields[key] = field
    return fields


def parse_google_error(error: BaseException) -> GoogleError | None:
    """Return the structured error in `error`; None where code or message is missing."""
    fields = error_fields(error)
    found = _from_response(fields)
    if found is None:
        found = _from_message(fields["message"])
    if found is None:
        found = _from_cause(fields)
    return _checked(_innermost(found)) if found is not None else None


def _innermost(found: Json) -> Json:
    """Descend while the message is itself the JSON of an error."""
    for _ in range(_MAX_NESTING):
        message = error_fields(found).get("message")
        if not isinstance(message, str):
            break
        inner = error_fields(_loads(message.replace("\u00a0", "").replace("\n", " "))).get("error")
        if not _truthy(inner):
            break
        found = inner
    return found


def _checked(found: Json) -> GoogleError | None:
    fields = error_fields(found)
    code, message = fields.get("code"), fields.get("message")
    if not code or isinstance(code, bool) or not isinstance(code, (int, float, str)):
        return None
    if not message or not isinstance(message, str):
        return None
    details = fields.get("details")
    typed = map(_typed_detail, details if isinstance(details, (list, tuple)) else ())
    return GoogleError(code, message, tuple(detail for detail in typed if detail is not None))


def _typed_detail(detail: Json) -> JsonObject | None:
    """Return `detail` with a clean `@type` key, which streams may pad; None without one."""
    if not isinstance(detail, Mapping):
        return None
    key = next((key for key in detail if key.strip() == "@type"), None)
    if key is None or not isinstance(detail[key], str):
        return None
    return {("@type" if name == key else name): value for name, value in detail.items()}


def _from_response(fields: Mapping[str, Json]) -> Json:
    """The `error` of an HTTP client's `response.data`."""
    data = error_fields(fields.get("response")).get("data")
    if isinstance(data, str):
        data = _loads(data)
    error = error_fields(_first(data)).get("error")
    return error if _error_shaped(error) else None


def _from_message(message: str) -> Json:
    """The `error` of a message that is, or contains, JSON."""
    data = _loads(message)
    first, last = message.find("{"), message.rfind("}")
    if data is None and -1 < first < last:
        data = _loads(message[first : last + 1])
    error = error_fields(_first(data)).get("error")
    return error if _error_shaped(error) else None


def _from_cause(fields: Mapping[str, Json]) -> Json:
    """The cause's error, with the outer error's code where it has none."""
    inner = error_fields(fields.get("cause"))
    message = inner.get("message")
    if isinstance(message, str):
        nested = _from_message(message)
    else:
        nested = error_fields(message).get("error")
    for found in (inner.get("error"), nested, inner):
        if _error_shaped(found):
            return _with_code(found, fields)
    return None


def _with_code(error: Json, outer: Mapping[str, Json]) -> JsonObject:
    fields = error_fields(error)
    kept = {key: fields[key] for key in ("message", "details", "code") if key in fields}
    if kept.get("code") is None:
        code = outer.get("code")
        kept["code"] = _number(code if code is not None else outer.get("status"))
    return kept


def _number(value: Json) -> int | float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _JS_NUMBER.fullmatch(value.strip()):
        number = float(value)
        return int(number) if number.is_integer() else number
    return None


def _error_shaped(value: Json) -> bool:
    fields = error_fields(value)
    code = fields.get("code")
    numeric = isinstance(code, (int, float)) and not isinstance(code, bool)
    return isinstance(fields.get("message"), str) or numeric


def _first(value: object) -> object:
    return value[0] if isinstance(value, (list, tuple)) and value else value


def _truthy(value: Json) -> bool:
    """JavaScript's truth: empty lists and objects are true."""
    return isinstance(value, (Mapping, list, tuple)) or bool(value)


def _loads(text: str) -> Json:
    """Parse JSON, repairing doubled commas of a broken event stream; None for other text."""
    while (repaired := _DOUBLE_COMMA.sub(r",\1", text)) != text:
        text = repaired
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
