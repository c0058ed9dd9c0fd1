"""Assembles a streamed response into a model turn.

Source: core `core/geminiChat.ts` `processStreamResponse`, and `core/turn.ts` for call ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from services.clock import Clock
from services.history.transforms import (
    NO_RESPONSE_TEXT_NUDGE,
    THINKING_ONLY_NUDGE,
    is_valid_content,
)
from services.model.errors import InvalidStreamError
from services.model.parts import Thought, function_calls, parse_thought
from services.wire import JsonObject, Part, js_trim

__all__ = [
    "AskedCall",
    "AssembledTurn",
    "CallIds",
    "StreamAssembler",
    "call_name",
    "retry_nudge",
]

_INVISIBLE: Final = re.compile("[\u200b-\u200d\ufeff\u200e\u200f]")
MOST_COMMENTS_WITHIN: Final = 100
"""The most levels of nested comments that are removed."""

_BLOCKED: Final = {
    "MAX_TOKENS": (
        "MAX_TOKENS_EXCEEDED",
        "Model stream ended due to token limit exhaustion (MAX_TOKENS) with empty response text.",
    ),
    "SAFETY": (
        "SAFETY_BLOCKED",
        "Model stream ended due to safety settings (SAFETY) with empty response text.",
    ),
    "RECITATION": (
        "RECITATION_BLOCKED",
        "Model stream ended due to recitation settings (RECITATION) with empty response text.",
    ),
    "OTHER": (
        "OTHER_BLOCKED",
        "Model stream ended due to other settings (OTHER) with empty response text.",
    ),
}
_PAYLOADS: Final = ("functionCall", "functionResponse", "inlineData", "fileData")
_REFUSED: Final = {
    "MALFORMED_FUNCTION_CALL": "Model stream ended with malformed function call.",
    "UNEXPECTED_TOOL_CALL": "Model stream ended with unexpected tool call.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledTurn:
    """A valid response. `parts` have no thoughts; adjacent texts are merged.

    `response_text` is its visible text, without invisible characters and HTML comments, trimmed;
    the chat recording stores it as the message.
    """

    parts: list[Part]
    response_text: str
    thoughts: tuple[Thought, ...]
    usage: JsonObject | None
    has_tool_call: bool
    has_thoughts: bool
    finish_reason: str | None

    @classmethod
    def of(
        cls, parts: Sequence[Part], usage: JsonObject | None, finish_reason: str | None
    ) -> AssembledTurn:
        """Make the turn of a response that a hook or script wrote; `parts` may have thoughts."""
        thoughts = tuple(
            parse_thought(each.get("text") or "") for each in parts if each.get("thought")
        )
        kept = [each for each in parts if not each.get("thought")]
        return cls(
            parts=kept,
            response_text=visible_text("".join(each.get("text") or "" for each in kept)),
            thoughts=thoughts,
            usage=usage,
            has_tool_call=any("functionCall" in each for each in kept),
            has_thoughts=bool(thoughts),
            finish_reason=finish_reason,
        )

    @property
    def recorded_as_message(self) -> bool:
        """False for an empty response, which is recorded as a synthetic turn."""
        return bool(self.response_text or self.has_thoughts or self.has_tool_call)


class AskedCall(Protocol):
    """A function call that the model asked for."""

    @property
    def call_id(self) -> str:
        """Its id; empty for a subagent's call without one."""

    @property
    def name(self) -> str:
        """The tool's name."""

    @property
    def args(self) -> JsonObject:
        """Its arguments."""


def call_name(call: JsonObject) -> str:
    """Return the name of a function call as later stages use it."""
    name = call.get("name")
    return (js_trim(name) if isinstance(name, str) else "") or "generic_tool"


class CallIds:
    """Assigns ids to a turn's function calls: `<name>__<the model's id, or a generated one>`.

    The id is written into the call, which the history shares. Use one instance per turn, because
    generated ids count from 0.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0

    def assign(self, call: JsonObject) -> str:
        """Return the call's id, after writing it into the call."""
        name = call_name(call)
        raw = call.get("id")
        if raw is None:
            raw = f"{name}_{self._clock.now_ms()}_{self._count}"
            self._count += 1
        call_id = raw if raw.startswith(f"{name}__") else f"{name}__{raw}"
        call["id"] = call_id
        return str(call_id)


@dataclass(slots=True)
class StreamAssembler:
    """Collects the chunks of one attempt.

    `after_function_response`: the request answered tool calls, so that an empty response, or one
    without a finish reason, is valid.
    `context_management`: the setting; without it `finish` changes the chunks.
    """

    after_function_response: bool
    context_management: bool = False
    _parts: list[Part] = field(default_factory=list)
    _thoughts: list[Thought] = field(default_factory=list)
    _usage: JsonObject | None = None
    _has_tool_call: bool = False
    _has_thoughts: bool = False
    _finish_reason: str | None = None

    def feed(self, chunk: JsonObject) -> None:
        """Add one chunk. The ids of its calls get their prefix in place."""
        for candidate in chunk.get("candidates") or ():
            if candidate.get("finishReason"):
                self._finish_reason = candidate["finishReason"]
                break
        for call in function_calls(chunk):
            if call.get("id") and not call["id"].startswith(f"{call_name(call)}__"):
                call["id"] = f"{call_name(call)}__{call['id']}"
        content = _first_content(chunk)
        if content is not None and is_valid_content(content):
            self._take(content.get("parts") or [])
        if chunk.get("usageMetadata") is not None:
            self._usage = chunk["usageMetadata"]

    def _take(self, parts: list[Part]) -> None:
        if any(part.get("thought") for part in parts):
            self._has_thoughts = True
            text = parts[0].get("text")
            if text:
                self._thoughts.append(parse_thought(text))
        if any(part.get("functionCall") is not None for part in parts):
            self._has_tool_call = True
        self._parts.extend(part for part in parts if not part.get("thought"))

    def finish(self) -> AssembledTurn:
        """Return the consolidated turn.

        As upstream, this extends the first of several adjacent texts in place, unless context
        management is on. Hooks that receive the chunk's text afterwards get the whole text.

        Raises:
            InvalidStreamError: the response is invalid; `type` names the reason.
        """
        copied = self.context_management
        parts = _consolidate([dict(part) for part in self._parts] if copied else self._parts)
        text = visible_text("".join(part["text"] for part in parts if part.get("text")))
        if not self._has_tool_call:
            self._validate(text)
        return AssembledTurn(
            parts=parts,
            response_text=text,
            thoughts=tuple(self._thoughts),
            usage=self._usage,
            has_tool_call=self._has_tool_call,
            has_thoughts=self._has_thoughts,
            finish_reason=self._finish_reason,
        )

    def _validate(self, text: str) -> None:
        reason = self._finish_reason
        if reason is None:
            if not self.after_function_response:
                raise InvalidStreamError(
                    "Model stream ended without a finish reason.", "NO_FINISH_REASON"
                )
        elif reason in _REFUSED:
            raise InvalidStreamError(_REFUSED[reason], reason)
        if text:
            return
        if reason in _BLOCKED:
            kind, message = _BLOCKED[reason]
            raise InvalidStreamError(message, kind)
        if self._has_thoughts:
            raise InvalidStreamError(
                "Model stream ended with empty response text but contained reasoning thoughts.",
                "THINKING_ONLY_RESPONSE",
            )
        if not self.after_function_response:
            raise InvalidStreamError(
                "Model stream ended with empty response text.", "NO_RESPONSE_TEXT"
            )


def retry_nudge(error: InvalidStreamError | None) -> str | None:
    """Return the text that a retry adds to the conversation after an invalid response."""
    if error is None:
        return None
    return {
        "THINKING_ONLY_RESPONSE": THINKING_ONLY_NUDGE,
        "NO_RESPONSE_TEXT": NO_RESPONSE_TEXT_NUDGE,
    }.get(error.type)


def visible_text(text: str) -> str:
    """Return the text without invisible characters and HTML comments, trimmed."""
    text = _INVISIBLE.sub("", text)
    for _ in range(MOST_COMMENTS_WITHIN):
        shorter = _without_comments(text)
        if shorter == text:
            break
        text = shorter
    return js_trim(text)


def _without_comments(text: str) -> str:
    """Remove every `<!--` up to the next `-->`, in linear time."""
    kept: list[str] = []
    place = 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[place:start])
        place = end + 3
    return "".join(kept) + text[place:]


def _first_content(chunk: JsonObject) -> JsonObject | None:
    candidates = chunk.get("candidates")
    content = candidates[0].get("content") if candidates else None
    return content if isinstance(content, dict) else None


def _is_plain_text(part: Part) -> bool:
    return (
        isinstance(part.get("text"), str)
        and not part.get("thought")
        and all(part.get(key) is None for key in _PAYLOADS)
    )


def _consolidate(parts: list[Part]) -> list[Part]:
    """Merge adjacent plain texts into the first one in place, which keeps its fields."""
    merged: list[Part] = []
    texts: list[str] = []

    def close() -> None:
        if len(texts) > 1:
            merged[-1]["text"] = "".join(texts)
        texts.clear()

    for part in parts:
        if texts and _is_plain_text(part):
            texts.append(part["text"])
            continue
        close()
        merged.append(part)
        if _is_plain_text(part) and part["text"]:
            texts.append(part["text"])
    close()
    return merged
