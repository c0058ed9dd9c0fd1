"""Reads what the user does: `script` and `during`.

Source: the cassette format, "Keys"; content parts: gemini-cli `packages/core/src/agent/types.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, get_args

from agent_protocol.agent import AgentSend, MessageSend
from agent_protocol.codec import send_from_wire
from agent_protocol.content import ContentPart, MediaPart, ReferencePart, TextPart, ThoughtPart
from agent_protocol.errors import MalformedMessage, UnsupportedSend
from agent_protocol.events import AgentEvent
from harness.cassette.answering import read_delay
from harness.cassette.fields import Fields, text_of, whole_of
from harness.cassette.format import (
    Abort,
    Action,
    AfterChunk,
    AfterEvents,
    AtEventType,
    AtHttpRequest,
    AtOutput,
    AtRequest,
    AtTool,
    Compress,
    During,
    DuringAction,
    Hint,
    LeavePlanMode,
    NoteQuotaError,
    Reset,
    Restore,
    ResumeSelf,
    Rewind,
    Send,
    SetApprovalMode,
    SetModel,
    Trigger,
    WriteFile,
)
from harness.cassette.paths import inside
from harness.cassette.problems import FormatProblem, kind_of, suggest
from services.rewind import RewindChoice
from services.state import ApprovalMode
from services.wire import Json

__all__ = ["APPROVAL_MODES", "read_action", "read_during"]

APPROVAL_MODES: Final = {mode.name.lower(): mode for mode in ApprovalMode}
"""The modes as cassettes write them."""

_AFTER_PLAN_MODE: Final = {
    name: mode for name, mode in APPROVAL_MODES.items() if mode is not ApprovalMode.PLAN
}
_EVENT_TYPES: Final = frozenset(
    kind.__dataclass_fields__["type"].default for kind in get_args(AgentEvent)
)
_ACTIONS: Final = (
    "send",
    "compress",
    "reset",
    "resume_self",
    "quota_error",
    "set_model",
    "set_approval_mode",
    "leave_plan_mode",
    "hint",
    "write_file",
    "rewind",
    "restore",
)
_BARE: Final[dict[str, Action]] = {
    "compress": Compress(),
    "reset": Reset(),
    "resume_self": ResumeSelf(),
    "quota_error": NoteQuotaError(),
}
_DURING: Final = ("hint", "set_approval_mode", "send")
_TRIGGERS: Final = ("events", "type", "tool", "output", "request", "chunk", "http")
_HINT_SOURCES: Final = {name: name for name in ("user_steering", "background_completion")}
_ON_THE_WIRE: Final = ("message", "update", "action", "elicitations", "_meta")
"""Keys of a send as the contract writes it."""
_SOURCE: Final = {"data": "data", "uri": "uri", "mimeType": "mime_type"}
_PARTS: Final[Mapping[str, tuple[Callable[..., ContentPart], tuple[str, ...], dict[str, str]]]] = {
    "text": (TextPart, ("text",), {}),
    "thought": (ThoughtPart, ("thought",), {"thoughtSignature": "thought_signature"}),
    "media": (MediaPart, (), _SOURCE),
    "reference": (ReferencePart, ("text",), _SOURCE),
}
"""Type of a content part → its class, required keys, and optional keys with their fields."""
_CHUNK: Final = re.compile(r"(\d{1,9}):(\d{1,9})")


def read_action(value: Json, path: str) -> Action:
    """Read one item of `script`."""
    key = _only_key(value, path, _ACTIONS)
    argument, here = value[key], f"{path}.{key}"
    if key in _BARE:
        if argument is not True:
            raise FormatProblem(here, f"must be true, not {kind_of(argument)}", "write true")
        return _BARE[key]
    if key == "set_model":
        return SetModel(_wrapped(argument, here, "model"))
    if key == "write_file":
        fields = Fields(argument, here, ("path", "text"))
        target = fields.text("path").removeprefix("<WS>/")
        return WriteFile(inside(target, fields.at("path")), fields.text("text"))
    if key == "leave_plan_mode":
        return LeavePlanMode(_read_mode(argument, here, _AFTER_PLAN_MODE))
    if key == "restore":
        named = isinstance(argument, str)
        return Restore(argument if named else whole_of(argument, here))
    if key == "rewind":
        return _read_rewind(argument, here)
    return _read_shared(key, argument, here)


def read_during(value: Json, path: str) -> During:
    """Read one item of `during`."""
    fields = Fields(value, path, ("when", "delay_ms", "do"))
    return During(
        when=_read_trigger(fields.need("when"), fields.at("when")),
        do=_read_during_action(fields.need("do"), fields.at("do")),
        delay_ms=read_delay(fields),
    )


def _read_trigger(value: Json, path: str) -> Trigger:
    key = _only_key(value, path, _TRIGGERS)
    argument, here = value[key], f"{path}.{key}"
    if key == "events":
        return AfterEvents(whole_of(argument, here, least=1))
    if key == "request":
        return AtRequest(whole_of(argument, here))
    if key == "http":
        return AtHttpRequest(whole_of(argument, here))
    if key == "output":
        return _read_output(argument, here)
    text = text_of(argument, here)
    if key == "tool":
        return AtTool(text)
    if key == "type":
        if text not in _EVENT_TYPES:
            raise FormatProblem(here, f"{text!r} is not an event", suggest(text, _EVENT_TYPES))
        return AtEventType(text)
    match = _CHUNK.fullmatch(text)
    if match is None:
        raise FormatProblem(here, f"{text!r} is not R:C", 'write request and chunk, such as "0:1"')
    return AfterChunk(int(match[1]), int(match[2]))


def _read_output(value: Json, path: str) -> AtOutput:
    whole = value if isinstance(value, dict) else {"of": value}
    fields = Fields(whole, path, ("of", "nth"))
    name = fields.text("of") if isinstance(value, dict) else text_of(value, path)
    return AtOutput(name, whole_of(fields.raw("nth", 1), fields.at("nth"), least=1))


def _read_during_action(value: Json, path: str) -> DuringAction:
    if value == "abort":
        return Abort()
    if isinstance(value, str):
        raise FormatProblem(path, f"{value!r} is unknown", suggest(value, ("abort", *_DURING)))
    key = _only_key(value, path, _DURING)
    return _read_shared(key, value[key], f"{path}.{key}")


def _read_shared(key: str, argument: Json, path: str) -> Hint | SetApprovalMode | Send:
    if key == "send":
        return Send(_read_payload(argument, path))
    if key == "hint":
        whole = {"text": argument} if isinstance(argument, str) else argument
        hint = Fields(whole, path, ("text", "source"))
        return Hint(hint.text("text"), hint.choice("source", _HINT_SOURCES, "user_steering"))
    return SetApprovalMode(_read_mode(argument, path, APPROVAL_MODES))


def _read_mode(argument: Json, path: str, modes: Mapping[str, ApprovalMode]) -> ApprovalMode:
    whole = {"mode": argument} if isinstance(argument, str) else argument
    return Fields(whole, path, ("mode",)).choice("mode", modes)


def _read_rewind(argument: Json, path: str) -> Rewind:
    whole = argument if isinstance(argument, dict) else {"to": argument}
    fields = Fields(whole, path, ("to", "choice"))
    target = fields.need("to")
    to = target if isinstance(target, str) else whole_of(target, fields.at("to"))
    if "choice" not in fields:
        return Rewind(to)
    return Rewind(to, fields.choice("choice", {item.value: item for item in RewindChoice}))


def _wrapped(argument: Json, path: str, key: str) -> str:
    """Read a text, either bare or as the only key of a mapping."""
    whole = {key: argument} if isinstance(argument, str) else argument
    return Fields(whole, path, (key,)).text(key)


def _only_key(value: Json, path: str, known: tuple[str, ...]) -> str:
    if not isinstance(value, dict) or len(value) != 1:
        problem = f"must be a mapping with one key, not {kind_of(value)}"
        raise FormatProblem(path, problem, f"use one of: {', '.join(known)}")
    key: str = next(iter(value))
    if key not in known:
        raise FormatProblem(f"{path}.{key}", "unknown key", suggest(key, known))
    return key


def _read_payload(value: Json, path: str) -> AgentSend:
    """Read the payload of `send`: text, a message, or any kind of the contract by its wire name."""
    if isinstance(value, str):
        return MessageSend(content=(TextPart(text=value),))
    if isinstance(value, dict) and not value.keys().isdisjoint(_ON_THE_WIRE):
        try:
            return send_from_wire(value)
        except (MalformedMessage, UnsupportedSend) as error:
            raise _not_a_send(error, path) from None
    fields = Fields(value, path, ("content", "display_content"))
    parts = fields.items("content", required=True)
    return MessageSend(
        content=tuple(
            _read_part(part, f"{fields.at('content')}[{position}]")
            for position, part in enumerate(parts)
        ),
        display_content=fields.optional_text("display_content"),
    )


def _not_a_send(error: MalformedMessage | UnsupportedSend, path: str) -> FormatProblem:
    """Return the cassette's problem for a refusal of the contract's codec."""
    mend = "write a text, {content: [parts]}, {message: …}, {update: …} or {action: …}"
    if isinstance(error, UnsupportedSend):
        return FormatProblem(path, "answers elicitations, which the contract leaves out", mend)
    place = f"{path}.{error.path}" if error.path else path
    return FormatProblem(place, error.problem, mend)


def _read_part(value: Json, path: str) -> ContentPart:
    type_ = value.get("type") if isinstance(value, dict) else None
    if not isinstance(type_, str) or type_ not in _PARTS:
        problem = f"is not a content part: {kind_of(value)} of type {type_!r}"
        mend = "write {type: text, text: …}, or thought, media, reference"
        raise FormatProblem(path, problem, mend)
    part, required, optional = _PARTS[type_]
    fields = Fields(value, path, ("type", *required, *optional))
    texts = {key: fields.text(key) for key in required}
    return part(**texts, **{name: fields.optional_text(key) for key, name in optional.items()})
