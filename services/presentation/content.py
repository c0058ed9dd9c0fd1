"""Converts model parts and content parts. Source: `content-utils.ts`, reference 9.1, 9.2."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from agent_protocol.content import ContentPart, MediaPart, ReferencePart, TextPart, ThoughtPart
from services.wire import Part, js_json, js_truthy

__all__ = ["content_to_parts", "parts_to_content"]

_DEFAULT_MIME_TYPE = "application/octet-stream"


def parts_to_content(parts: Iterable[Part]) -> tuple[ContentPart, ...]:
    """A model's parts as content for the user.

    Function calls and responses have events of their own and are left out. A part of an unknown
    kind becomes its JSON, marked `partType: unknown` in its `meta`.
    """
    shown = (_shown(part) for part in parts)
    return tuple(part for part in shown if part is not None)


def _shown(part: Part) -> ContentPart | None:
    text = part.get("text")
    if text is not None:
        if js_truthy(part.get("thought")):
            return ThoughtPart(thought=text, thought_signature=part.get("thoughtSignature") or None)
        return TextPart(text=text)
    inline = part.get("inlineData")
    if isinstance(inline, dict):
        return MediaPart(data=inline.get("data"), mime_type=inline.get("mimeType"))
    file = part.get("fileData")
    if isinstance(file, dict):
        return MediaPart(uri=file.get("fileUri"), mime_type=file.get("mimeType"))
    if js_truthy(part.get("functionCall")) or js_truthy(part.get("functionResponse")):
        return None
    return TextPart(text=js_json(part), meta={"partType": "unknown"})


def content_to_parts(content: Iterable[ContentPart]) -> list[Part]:
    """`content` as parts for the model.

    Media without data and URI are left out; a reference becomes its text; `meta` is dropped.
    """
    sent = (_sent(part) for part in content)
    return [part for part in sent if part is not None]


def _sent(part: ContentPart) -> Part | None:
    match part:
        case TextPart() | ReferencePart():
            return {"text": part.text}
        case ThoughtPart():
            thought: Part = {"text": part.thought, "thought": True}
            if part.thought_signature:
                thought["thoughtSignature"] = part.thought_signature
            return thought
        case MediaPart():
            return _sent_media(part)
        case _:
            assert_never(part)


def _sent_media(part: MediaPart) -> Part | None:
    if part.data:
        mime_type = _DEFAULT_MIME_TYPE if part.mime_type is None else part.mime_type
        return {"inlineData": {"data": part.data, "mimeType": mime_type}}
    if part.uri:
        file = {"fileUri": part.uri}
        if part.mime_type is not None:
            file["mimeType"] = part.mime_type
        return {"fileData": file}
    return None
