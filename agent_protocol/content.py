"""What a message is made of: the `ContentPart` union.

Source: gemini-cli `packages/core/src/agent/types.ts`, `ContentPart`. Python names are
snake_case; `codec` spells the wire's camelCase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["ContentPart", "MediaPart", "ReferencePart", "TextPart", "ThoughtPart"]

Meta = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Plain text."""

    text: str
    meta: Meta | None = None
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtPart:
    """A model's reasoning, with the provider's signature where one came with it."""

    thought: str
    thought_signature: str | None = None
    meta: Meta | None = None
    type: Literal["thought"] = "thought"


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaPart:
    """Binary content: `data` is base64, `uri` a reference; either may be absent."""

    data: str | None = None
    uri: str | None = None
    mime_type: str | None = None
    meta: Meta | None = None
    type: Literal["media"] = "media"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePart:
    """Something the text points at, such as an @-mention; only `text` reaches the model."""

    text: str
    data: str | None = None
    uri: str | None = None
    mime_type: str | None = None
    meta: Meta | None = None
    type: Literal["reference"] = "reference"


ContentPart = TextPart | ThoughtPart | MediaPart | ReferencePart
