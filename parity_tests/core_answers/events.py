"""Events of a session: parts, errors and reasons as clients see them."""

from __future__ import annotations

from typing import Any, Final

from agent_protocol.content import ContentPart, MediaPart, ReferencePart, TextPart, ThoughtPart
from parity_tests.core_answers.subject import Subject
from services.presentation.content import content_to_parts, parts_to_content
from services.presentation.errors import map_error
from services.presentation.finish import end_reason

__all__ = ["SUBJECTS"]


def shown(parts: list[Any]) -> list[Any]:
    """A model's parts as content."""
    return [_wire(part) for part in parts_to_content(parts)]


def _wire(part: ContentPart) -> dict[str, Any]:
    meta = {} if part.meta is None else {"_meta": dict(part.meta)}
    return {**_fields(part), **meta}


def _fields(part: ContentPart) -> dict[str, Any]:
    if isinstance(part, ThoughtPart):
        own = {
            "type": "thought",
            "thought": part.thought,
            "thoughtSignature": part.thought_signature,
        }
    elif isinstance(part, MediaPart):
        own = {"type": "media", "data": part.data, "uri": part.uri, "mimeType": part.mime_type}
    else:
        own = {"type": "text", "text": part.text}
    return {key: value for key, value in own.items() if value is not None}


def sent(content: list[dict[str, Any]]) -> list[Any]:
    """Content as parts for a model."""
    return list(content_to_parts(map(_part, content)))


def _part(fields: dict[str, Any]) -> ContentPart:
    kind = fields["type"]
    if kind == "text":
        return TextPart(text=fields["text"])
    if kind == "reference":
        return ReferencePart(text=fields["text"])
    if kind == "thought":
        signature = fields.get("thoughtSignature")
        return ThoughtPart(thought=fields["thought"], thought_signature=signature)
    return MediaPart(
        data=fields.get("data"), uri=fields.get("uri"), mime_type=fields.get("mimeType")
    )


def ended(reason: str | None) -> str:
    """The reason of an end."""
    return end_reason(reason)


def failed(error: Any) -> dict[str, Any]:
    """The fields of an error that is no exception."""
    fields = map_error(error)
    meta = None if fields.meta is None else {"status": None, **fields.meta}
    return {
        "status": fields.status,
        "message": fields.message,
        "fatal": fields.fatal,
        "_meta": meta,
    }


SUBJECTS: Final = (
    Subject("events.shown", shown),
    Subject("events.sent", sent),
    Subject("events.ended", ended),
    Subject("events.failed", failed),
)
