"""What upstream's client library says of an error that an agent answers with.

Source: the JavaScript SDK's `JsonRpcTransport` and `RestTransport` (`mapToError`).
"""

from __future__ import annotations

import re
from typing import Any, Final

from services.mcp.json_text import parse_json
from services.wire import js_json

__all__ = ["Refusal", "refused_over_rest", "refused_over_rpc", "told_in_stream"]

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
"""How the Python library tells of an event of the kind `error`."""


class Refusal(Exception):
    """A JSON-RPC error as it came. The library keeps the message alone."""

    def __init__(self, error: object) -> None:
        super().__init__("refused")
        self.error = error


def refused_over_rpc(error: object, *, streaming: bool) -> str:
    """What is said of a JSON-RPC answer's `error`."""
    code, message, data = _read(error)
    if not streaming and code in _NAMED:
        return _NAMED[code]
    begin = "SSE event contained an error" if streaming else "JSON-RPC error"
    return f"{begin}: {message} (Code: {code}) Data: {js_json(data or {})}"


def refused_over_rest(body: object) -> str | None:
    """What is said of an HTTP+JSON answer's body; `None` where that is no error."""
    code, message, data = _read(body)
    if isinstance(code, bool) or not isinstance(code, (int, float)):
        return None
    if code in _NAMED:
        given = isinstance(body, dict) and body.get("message") is not None
        return str(message) if given else _NAMED[int(code)]
    said = f"REST error: {message} (Code: {code})"
    return f"{said} Data: {js_json(data)}" if data else said


def told_in_stream(error: Exception, *, rest: bool) -> str | None:
    """What is said of `error`, where it is an event of the kind `error`; `None` elsewhere."""
    found = _IN_STREAM.fullmatch(str(error))
    if found is None:
        return None
    try:
        body = parse_json(found[1])
    except ValueError:
        return None
    if rest:
        return refused_over_rest(body)
    return refused_over_rpc(body.get("error"), streaming=True) if isinstance(body, dict) else None


def _read(error: object) -> tuple[Any, Any, Any]:
    """Code, message and data; JavaScript's word for what is not there."""
    fields = error if isinstance(error, dict) else {}
    return fields.get("code", "undefined"), fields.get("message", "undefined"), fields.get("data")
