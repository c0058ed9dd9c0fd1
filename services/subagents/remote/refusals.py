"""Upstream's messages for errors in an agent's response.

Source: the JavaScript SDK's `JsonRpcTransport` and `RestTransport` (`mapToError`).
"""

from __future__ import annotations

import re
from typing import Any, Final

from services.mcp.json_text import parse_json
from services.wire import js_json, js_text, js_truthy

__all__ = [
    "Refusal",
    "refused_over_rest",
    "refused_over_rpc",
    "refused_stream",
    "stream_error_text",
]

_NAMED: Final = {
    -32001: "Task not found",
    -32002: "Task cannot be canceled",
    -32003: "Push Notification is not supported",
    -32004: "This operation is not supported",
    -32005: "Incompatible content types",
    -32006: "Invalid agent response type",
    -32007: "Authenticated Extended Card not configured",
}
_IN_STREAM: Final = re.compile(r"SSE stream error event received: (.*)", re.DOTALL)
"""The Python library's message for an event of the kind `error`."""


class Refusal(Exception):
    """A JSON-RPC error with all its fields; the library keeps only its message."""

    def __init__(self, error: object) -> None:
        super().__init__("refused")
        self.error = error


def refused_over_rpc(error: object, *, streaming: bool) -> str:
    """Return the message for a JSON-RPC response's `error`."""
    code, message, data = _read(error)
    if not streaming and code in _NAMED:
        return _NAMED[code]
    begin = "SSE event contained an error" if streaming else "JSON-RPC error"
    said = f"{js_text(message)} (Code: {js_text(code)})"
    return f"{begin}: {said} Data: {js_json(data if js_truthy(data) else {})}"


def refused_over_rest(body: object) -> str | None:
    """Return the message for an HTTP+JSON body; `None` where it is not an error."""
    code = body.get("code") if isinstance(body, dict) else None
    if isinstance(code, bool) or not isinstance(code, (int, float)):
        return None
    return _rest_text(body)


def refused_stream(error: object) -> str:
    """Return the message for the `error` of a refusal with a status, where a stream was asked."""
    code, message, _ = _read(error)
    return f"RPC Error: {js_text(message)} (Code: {js_text(code)})"


def stream_error_text(error: Exception, *, rest: bool) -> str | None:
    """Return the message for an event of the kind `error`; `None` for other errors."""
    found = _IN_STREAM.fullmatch(str(error))
    if found is None:
        return None
    try:
        body = parse_json(found[1])
    except ValueError:
        return None
    if rest:
        return _rest_text(body)
    return refused_over_rpc(body.get("error"), streaming=True) if isinstance(body, dict) else None


def _rest_text(body: object) -> str:
    code, message, data = _read(body)
    if code in _NAMED:
        given = isinstance(body, dict) and body.get("message") is not None
        return js_text(message) if given else _NAMED[int(code)]
    text = f"REST error: {js_text(message)} (Code: {js_text(code)})"
    return f"{text} Data: {js_json(data)}" if js_truthy(data) else text


def _read(error: object) -> tuple[Any, Any, Any]:
    """Return code, message and data, with `undefined` for missing ones."""
    fields = error if isinstance(error, dict) else {}
    return fields.get("code", "undefined"), fields.get("message", "undefined"), fields.get("data")
