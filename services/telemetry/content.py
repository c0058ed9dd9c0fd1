"""The content of users, models and tools as the conventions' messages, where it is switched on.

Secrets are redacted before a long text is cut, because a cut key is not recognised. Media are left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final

from services.redaction import redacted, redacted_value
from services.wire import Content, JsonObject, Part, js_json

__all__ = ["messages", "newest_contents", "shortened"]

_MAX_LENGTH: Final = 10_000
"""Characters. Source: core `telemetry/trace.ts`, `truncateForTelemetry`."""
_ROLES: Final = {"model": "assistant", "function": "tool"}


def shortened(value: Any) -> str:
    """Return `value` as redacted text or JSON, cut at the limit."""
    text = redacted(value) if isinstance(value, str) else js_json(redacted_value(value))
    if len(text) <= _MAX_LENGTH:
        return text
    return f"{text[:_MAX_LENGTH]}...[TRUNCATED: original length {len(text)}]"


def messages(contents: Iterable[Content]) -> str:
    """Return the value of `gen_ai.input.messages` and `gen_ai.output.messages`."""
    return shortened(
        [
            {
                "role": _ROLES.get(content.get("role") or "user", content.get("role") or "user"),
                "parts": [_message_part(part) for part in content.get("parts") or ()],
            }
            for content in redacted_value(list(contents))
        ]
    )


def newest_contents(contents: Sequence[Content]) -> list[Content]:
    """Return the contents since the model's last turn.

    The whole history in every span would grow with the square of a conversation.
    """
    newest = takewhile(lambda content: content.get("role") != "model", reversed(contents))
    return list(newest)[::-1]


def _message_part(part: Part) -> JsonObject:
    if "functionCall" in part:
        call = part["functionCall"]
        return {
            "type": "tool_call",
            "id": call.get("id"),
            "name": call.get("name"),
            "arguments": call.get("args"),
        }
    if "functionResponse" in part:
        answer = part["functionResponse"]
        return {
            "type": "tool_call_response",
            "id": answer.get("id"),
            "response": answer.get("response"),
        }
    if "text" in part:
        return {"type": "reasoning" if part.get("thought") else "text", "content": part["text"]}
    media = part.get("inlineData") or part.get("fileData") or {}
    return {"type": "blob", "mime_type": media.get("mimeType")}
