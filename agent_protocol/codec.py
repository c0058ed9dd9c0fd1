"""The contract on the wire: camelCase JSON, one event a line, strict on the way in.

The dataclasses of the contract describe their JSON objects (see `records`). Free-form values
(`args`, `data`, `config`, `configSchema`, `ansi`, `_meta`) pass untouched in both directions and
are shared, not copied: treat them as read-only.

An optional field that is `None` has no key on the wire. A tool display's `resultSummary` and
`result` may also be null there, which reads as absent.

Source: gemini-cli `packages/core/src/agent/types.ts`; reference `agent-protocol.md`, sections 1.1
and 2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_protocol.agent import ActionSend, AgentSend, MessageSend, UpdateSend
from agent_protocol.content import ContentPart
from agent_protocol.errors import MalformedMessage, UnsupportedSend
from agent_protocol.events import AgentEvent, DisplayContent
from agent_protocol.records import Record, Wire, below, obj, record, tagged_union

__all__ = [
    "content_part_to_wire",
    "decode_line",
    "display_content_to_wire",
    "encode_line",
    "from_wire",
    "send_from_wire",
    "send_to_wire",
    "to_wire",
]


_CONTENT = tagged_union(ContentPart)
_DISPLAY_CONTENT = tagged_union(DisplayContent)
_EVENTS = tagged_union(AgentEvent)
_SENDS: dict[str, tuple[type, Record]] = {
    kind: (build, record(build, leave_out="meta"))
    for kind, build in (("message", MessageSend), ("update", UpdateSend), ("action", ActionSend))
}


def to_wire(event: AgentEvent) -> dict[str, Any]:
    """`event` as its JSON object. Free-form values in it are the event's own: do not change them.

    Raises:
        TypeError: `event` is not one of the contract's classes.
    """
    return _EVENTS.encode(event)


def from_wire(mapping: Mapping[str, Any]) -> AgentEvent:
    """Read an event's JSON object.

    Raises:
        MalformedMessage: an unknown `type` or key, a missing key, or a value of a wrong type;
            `path` points at it (`content[0].text`).
    """
    event: AgentEvent = _EVENTS.decode(mapping)
    return event


def content_part_to_wire(part: ContentPart) -> dict[str, Any]:
    """`part` as its JSON object."""
    return _CONTENT.encode(part)


def display_content_to_wire(display: DisplayContent) -> dict[str, Any]:
    """`display` as its JSON object."""
    return _DISPLAY_CONTENT.encode(display)


def send_to_wire(payload: AgentSend) -> dict[str, Any]:
    """`payload` as its JSON object: its kind's key, and `_meta` where it has one."""
    for kind, (build, fields) in _SENDS.items():
        if type(payload) is build:
            wire: Wire = {kind: fields.encode(payload)}
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
    _, of_kind = _SENDS[kind]
    try:
        payload: AgentSend = of_kind.decode(fields[kind])
    except MalformedMessage as error:
        raise below(kind, error) from None
    if "_meta" not in fields:
        return payload
    try:
        meta = obj(fields["_meta"])
    except MalformedMessage as error:
        raise below("_meta", error) from None
    return replace(payload, meta=meta)


def encode_line(event: AgentEvent) -> str:
    """`event` as one line of JSON, without the line feed.

    ASCII only: no reader's idea of a line end, and no lone surrogate, can break the line.

    Raises:
        ValueError: a free-form value holds NaN or an infinity, which JSON has not.
        TypeError: `event` is not of the contract, or a free-form value is not JSON.
    """
    return _ENCODER.encode(_EVENTS.encode(event))


def decode_line(line: str) -> AgentEvent:
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
