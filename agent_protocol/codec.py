"""The contract on the wire: camelCase JSON, one event a line, strict on the way in.

One table describes every record; encoding walks it with plain attribute reads, decoding checks
each key against it. Free-form values (`args`, `data`, `config`, `configSchema`, `ansi`, `_meta`)
pass untouched in both directions and are shared, not copied: treat them as read-only.

An optional field that is `None` has no key on the wire. A tool display's `resultSummary` and
`result` may also be null there, which reads as absent.

Source: gemini-cli `packages/core/src/agent/types.ts`; reference `agent-protocol.md`, sections 1.1
and 2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from agent_protocol import content as parts
from agent_protocol import events as ev
from agent_protocol.agent import ActionSend, AgentSend, MessageSend, UpdateSend
from agent_protocol.errors import MalformedMessage, UnsupportedSend
from agent_protocol.records import (
    Field,
    Record,
    TaggedUnion,
    Wire,
    anything,
    below,
    choice,
    flag,
    integer,
    need,
    number,
    obj,
    sequence,
    text,
)

__all__ = [
    "content_part_from_wire",
    "content_part_to_wire",
    "decode_line",
    "display_content_from_wire",
    "display_content_to_wire",
    "encode_line",
    "from_wire",
    "send_from_wire",
    "send_to_wire",
    "to_wire",
    "tool_display_from_wire",
    "tool_display_to_wire",
]


def _encode_content(content: Iterable[parts.ContentPart]) -> list[Wire]:
    return [_CONTENT.encode(part) for part in content]


_META = Field("meta", "_meta", obj)
_SOURCE = (
    Field("data", "data", text),
    Field("uri", "uri", text),
    Field("mime_type", "mimeType", text),
)
_CONTENT = TaggedUnion(
    text=(parts.TextPart, Record(parts.TextPart, need("text", "text", text), _META)),
    thought=(
        parts.ThoughtPart,
        Record(
            parts.ThoughtPart,
            need("thought", "thought", text),
            Field("thought_signature", "thoughtSignature", text),
            _META,
        ),
    ),
    media=(parts.MediaPart, Record(parts.MediaPart, *_SOURCE, _META)),
    reference=(
        parts.ReferencePart,
        Record(parts.ReferencePart, need("text", "text", text), *_SOURCE, _META),
    ),
)

_DISPLAY_CONTENT = TaggedUnion(
    text=(ev.TextDisplay, Record(ev.TextDisplay, need("text", "text", text))),
    diff=(
        ev.DiffDisplay,
        Record(
            ev.DiffDisplay,
            Field("path", "path", text),
            need("before_text", "beforeText", text),
            need("after_text", "afterText", text),
        ),
    ),
    terminal=(
        ev.TerminalDisplay,
        Record(
            ev.TerminalDisplay,
            Field("pid", "pid", text),
            Field("exit_code", "exitCode", integer),
            Field("ansi", "ansi", anything),
        ),
    ),
    agent=(ev.AgentDisplay, Record(ev.AgentDisplay, need("thread_id", "threadId", text))),
)

_TOOL_DISPLAY = Record(
    ev.ToolDisplay,
    Field("name", "name", text),
    Field("description", "description", text),
    Field("result_summary", "resultSummary", text, nullable=True),
    Field("result", "result", _DISPLAY_CONTENT.decode, _DISPLAY_CONTENT.encode, nullable=True),
    Field("format", "format", choice("auto", "compact", "box", "hidden", "notice")),
    tagged=False,
)
_COST = Record(
    ev.UsageCost,
    need("amount", "amount", number),
    Field("currency", "currency", text),
    tagged=False,
)

_REQUEST_ID = need("request_id", "requestId", text)
_NAME = need("name", "name", text)
_DISPLAY = Field("display", "display", _TOOL_DISPLAY.decode, _TOOL_DISPLAY.encode)
_RESULT_CONTENT = Field("content", "content", sequence(_CONTENT.decode), _encode_content)
_DATA = Field("data", "data", obj)
_MODEL_AND_CONFIG = (
    Field("title", "title", text),
    Field("model", "model", text),
    Field("config", "config", obj),
)


def _event(build: Callable[..., Any], *own: Field) -> Record:
    return Record(
        build,
        need("id", "id", text),
        need("timestamp", "timestamp", text),
        need("stream_id", "streamId", text),
        Field("thread_id", "threadId", text),
        *own,
        _META,
    )


_EVENTS = TaggedUnion(
    initialize=(
        ev.Initialize,
        _event(
            ev.Initialize,
            need("session_id", "sessionId", text),
            need("workspace", "workspace", text),
            need("agent_id", "agentId", text),
            Field("config_schema", "configSchema", obj),
        ),
    ),
    session_update=(ev.SessionUpdate, _event(ev.SessionUpdate, *_MODEL_AND_CONFIG)),
    message=(
        ev.Message,
        _event(
            ev.Message,
            need("role", "role", choice("user", "agent", "developer")),
            need("content", "content", sequence(_CONTENT.decode), _encode_content),
        ),
    ),
    agent_start=(ev.AgentStart, _event(ev.AgentStart)),
    agent_end=(ev.AgentEnd, _event(ev.AgentEnd, need("reason", "reason", text), _DATA)),
    tool_request=(
        ev.ToolRequest,
        _event(ev.ToolRequest, _REQUEST_ID, _NAME, need("args", "args", obj), _DISPLAY),
    ),
    tool_update=(
        ev.ToolUpdate,
        _event(ev.ToolUpdate, _REQUEST_ID, _DISPLAY, _RESULT_CONTENT, _DATA),
    ),
    tool_response=(
        ev.ToolResponse,
        _event(
            ev.ToolResponse,
            _REQUEST_ID,
            _NAME,
            _DISPLAY,
            _RESULT_CONTENT,
            _DATA,
            Field("is_error", "isError", flag),
        ),
    ),
    usage=(
        ev.Usage,
        _event(
            ev.Usage,
            need("model", "model", text),
            Field("input_tokens", "inputTokens", number),
            Field("output_tokens", "outputTokens", number),
            Field("cached_tokens", "cachedTokens", number),
            Field("cost", "cost", _COST.decode, _COST.encode),
        ),
    ),
    error=(
        ev.ErrorEvent,
        _event(
            ev.ErrorEvent,
            need("status", "status", text),
            need("message", "message", text),
            need("fatal", "fatal", flag),
        ),
    ),
    custom=(ev.Custom, _event(ev.Custom, need("kind", "kind", text), _DATA)),
)

_SENDS: dict[str, tuple[type, Record]] = {
    "message": (
        MessageSend,
        Record(
            MessageSend,
            need("content", "content", sequence(_CONTENT.decode), _encode_content),
            Field("display_content", "displayContent", text),
            tagged=False,
        ),
    ),
    "update": (UpdateSend, Record(UpdateSend, *_MODEL_AND_CONFIG, tagged=False)),
    "action": (
        ActionSend,
        Record(
            ActionSend,
            need("type", "type", text),
            Field("data", "data", anything, nullable=True),
            tagged=False,
        ),
    ),
}


def to_wire(event: ev.AgentEvent) -> dict[str, Any]:
    """`event` as its JSON object. Free-form values in it are the event's own: do not change them.

    Raises:
        TypeError: `event` is not one of the contract's classes.
    """
    return _EVENTS.encode(event)


def from_wire(mapping: Mapping[str, Any]) -> ev.AgentEvent:
    """Read an event's JSON object.

    Raises:
        MalformedMessage: an unknown `type` or key, a missing key, or a value of a wrong type;
            `path` points at it (`content[0].text`).
    """
    event: ev.AgentEvent = _EVENTS.decode(mapping)
    return event


def content_part_to_wire(part: parts.ContentPart) -> dict[str, Any]:
    """`part` as its JSON object."""
    return _CONTENT.encode(part)


def content_part_from_wire(mapping: Mapping[str, Any]) -> parts.ContentPart:
    """Read a content part's JSON object.

    Raises:
        MalformedMessage: as `from_wire`.
    """
    part: parts.ContentPart = _CONTENT.decode(mapping)
    return part


def tool_display_to_wire(display: ev.ToolDisplay) -> dict[str, Any]:
    """`display` as its JSON object."""
    return _TOOL_DISPLAY.encode(display)


def tool_display_from_wire(mapping: Mapping[str, Any]) -> ev.ToolDisplay:
    """Read a tool display's JSON object.

    Raises:
        MalformedMessage: as `from_wire`.
    """
    display: ev.ToolDisplay = _TOOL_DISPLAY.decode(mapping)
    return display


def display_content_to_wire(display: ev.DisplayContent) -> dict[str, Any]:
    """`display` as its JSON object."""
    return _DISPLAY_CONTENT.encode(display)


def display_content_from_wire(mapping: Mapping[str, Any]) -> ev.DisplayContent:
    """Read a display content's JSON object.

    Raises:
        MalformedMessage: as `from_wire`.
    """
    display: ev.DisplayContent = _DISPLAY_CONTENT.decode(mapping)
    return display


def send_to_wire(payload: AgentSend) -> dict[str, Any]:
    """`payload` as its JSON object: its kind's key, and `_meta` where it has one."""
    for kind, (build, record) in _SENDS.items():
        if type(payload) is build:
            wire: Wire = {kind: record.encode(payload)}
            if payload.meta is not None:
                wire["_meta"] = payload.meta
            return wire
    raise TypeError(f"{type(payload).__name__} is not of the contract")


def send_from_wire(mapping: Mapping[str, Any]) -> AgentSend:
    """Read a send's JSON object: exactly one of `message`, `update`, `action`.

    Raises:
        UnsupportedSend: it answers elicitations, which this contract leaves out.
        MalformedMessage: no kind, several, or as `from_wire`.
    """
    fields = obj(mapping)
    for key in fields:
        if key not in _SENDS and key not in ("_meta", "elicitations"):
            raise MalformedMessage(str(key), "unknown key")
    kinds = [key for key in fields if key != "_meta"]
    if len(kinds) != 1:
        given = " and ".join(kinds) or "none"
        raise MalformedMessage("", f"expected exactly one of {', '.join(_SENDS)}, got {given}")
    kind = kinds[0]
    if kind == "elicitations":
        raise UnsupportedSend(
            "elicitations are not part of this contract: no agent asks any; "
            f"send one of {', '.join(_SENDS)}"
        )
    _, record = _SENDS[kind]
    try:
        payload: AgentSend = record.decode(fields[kind])
    except MalformedMessage as error:
        raise below(kind, error) from None
    if "_meta" not in fields:
        return payload
    try:
        meta = obj(fields["_meta"])
    except MalformedMessage as error:
        raise below("_meta", error) from None
    return replace(payload, meta=meta)


def encode_line(event: ev.AgentEvent) -> str:
    """`event` as one line of JSON, without the line feed.

    ASCII only: no reader's idea of a line end, and no lone surrogate, can break the line.

    Raises:
        ValueError: a free-form value holds NaN or an infinity, which JSON has not.
        TypeError: `event` is not of the contract, or a free-form value is not JSON.
    """
    return _ENCODER.encode(_EVENTS.encode(event))


def decode_line(line: str) -> ev.AgentEvent:
    """Read one line of JSON.

    Raises:
        MalformedMessage: not JSON (NaN, a key given twice and absurd nesting included), or as
            `from_wire`.
    """
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise MalformedMessage("", f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise MalformedMessage("", "nested too deeply") from None
    except ValueError as error:
        raise MalformedMessage("", f"not JSON: {error}") from None
    return from_wire(value)


def _unique_keys(pairs: list[tuple[str, Any]]) -> Wire:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise MalformedMessage(key, "given twice")
            seen.add(key)
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):  # read-only mappings, which `json` does not know
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_plain)
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
