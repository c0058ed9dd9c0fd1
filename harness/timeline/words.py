"""What happened, on one line: an item of a channel in words for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.canonical import printable
from harness.timeline.model import MomentKind
from services.wire import JsonObject

__all__ = [
    "call_line",
    "content_line",
    "event_kind",
    "event_line",
    "item_line",
    "quoted",
    "request_line",
]

_TEXT: Final = 80
_LINE: Final = 240


def quoted(text: object, room: int = _TEXT) -> str:
    """A text in quotes, cut to `room` characters, on one line."""
    whole = printable(str(text)[: 4 * room].replace("\n", " "))
    return f"'{whole[: room - 1]}…'" if len(whole) > room else f"'{whole}'"


def request_line(request: Mapping[str, Any], count: int, last: Any) -> str:
    """A question to the model: whom, how much, and what came last."""
    asked = "counted tokens with" if request["method"] == "countTokens" else "asked"
    role, thread = request["role"], request["thread"]
    aside = [] if role == "main" else [str(role)]
    aside += [] if thread == "main" else [f"thread {thread}"]
    who = f"{request['model']} ({', '.join(aside)})" if aside else str(request["model"])
    contents = f"{count} content{'' if count == 1 else 's'}"
    tail = "" if last is None else f", last: {content_line(last)}"
    return _line(f"{asked} {who}: {contents}{tail}")


def content_line(content: Any) -> str:
    """A content by its last part: `function response read_file`, `text 'Hello'`."""
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list) or not parts:
        return "nothing"
    told = _part(parts[-1])
    return told if len(parts) == 1 else f"{len(parts)} parts, {told}"


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return quoted(part)
    call, response = part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, dict):
        return f"call {call.get('name')} {_args(call.get('args'))}".rstrip()
    if isinstance(response, dict):
        return f"function response {response.get('name')}: {_output(response.get('response'))}"
    if str(part.get("text")).startswith("<session_context>"):
        return "the environment"
    if "text" in part:
        return f"{'thought' if part.get('thought') else 'text'} {quoted(part['text'])}"
    return f"{next(iter(part), 'empty')} part"


def _output(response: Any) -> str:
    if isinstance(response, dict) and len(response) == 1:
        (key, value), *_ = response.items()
        prefix = "" if key == "output" else f"{key} "
        return prefix + (quoted(value) if isinstance(value, str) else _args(value))
    return _args(response)


def _args(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def event_kind(event: Mapping[str, Any]) -> MomentKind:
    """Whether an event is what the model said, or something else that the client is told."""
    said = event.get("type") == "message" and event.get("role") == "agent"
    return MomentKind.ANSWER if said else MomentKind.EVENT


def event_line(event: Mapping[str, Any]) -> str:
    """An event that the client is told."""
    kind = str(event.get("type"))
    match kind:
        case "message":
            said = _said(event.get("content"))
            told = "answered" if event.get("role") == "agent" else "emitted message of the"
            line = (
                f"{told}: {said}" if told == "answered" else f"{told} {event.get('role')}: {said}"
            )
        case "tool_request":
            line = f"emitted tool_request {event.get('name')} {_args(event.get('args'))}"
        case "tool_response":
            failed = " (error)" if event.get("isError") else ""
            line = f"emitted tool_response {event.get('name')}{failed}: {_result(event)}"
        case "usage":
            counts = [f"{event.get(key)} {name}" for key, name in _TOKENS if event.get(key)]
            line = f"emitted usage of {event.get('model')}: {', '.join(counts) or 'nothing'}"
        case "agent_end":
            line = f"emitted agent_end: {event.get('reason')}"
        case "error":
            line = f"emitted error {event.get('status')}: {quoted(event.get('message'))}"
        case "session_update":
            line = f"emitted session_update: {_args(_own(event))}"
        case _:
            own = _own(event)
            line = f"emitted {kind}: {_args(own)}" if own else f"emitted {kind}"
    return _line(line)


_TOKENS: Final = (("inputTokens", "in"), ("outputTokens", "out"), ("cachedTokens", "cached"))
_COMMON: Final = frozenset({"type", "id", "timestamp", "streamId", "threadId", "_meta"})


def _own(event: Mapping[str, Any]) -> JsonObject:
    return {key: value for key, value in event.items() if key not in _COMMON}


def _said(content: Any) -> str:
    told = []
    for part in content if isinstance(content, list) else []:
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get(kind) if isinstance(kind, str) else None
        told.append(f"{kind} {quoted(text)}" if isinstance(text, str) else f"{kind} part")
    return ", ".join(told) or "nothing"


def _result(event: Mapping[str, Any]) -> str:
    display = event.get("display")
    result = display.get("result") if isinstance(display, dict) else None
    if event.get("content"):
        return _said(event["content"])
    return quoted(result.get("text", "")) if isinstance(result, dict) else "nothing"


def call_line(name: str, states: Sequence[str]) -> str:
    """A call's way through the scheduler's states."""
    way = f" ({' → '.join(states)})" if len(states) > 1 else ""
    return _line(f"brought its call of {name} to {states[-1] if states else 'nothing'}{way}")


def item_line(kind: MomentKind, item: Any) -> str:
    """An item of a channel that has no line of its own above."""
    match kind:
        case MomentKind.RETRY:
            retry = item["retry"]
            line = (
                f"announced retry {retry['attempt']} of {retry['maxAttempts']} of "
                f"{retry['model']} in {retry['delayMs']} ms: {quoted(retry['error'])}"
            )
        case MomentKind.SIDE:
            side = item["side"]
            rest = {key: value for key, value in side.items() if key != "event"}
            line = f"{side.get('event')}: {_args(rest)}"
        case MomentKind.MEMORY:
            line = f"remembered, {item.get('role')}: {content_line(item)}"
        case MomentKind.RECORDING:
            line = f"recorded {_recorded(item)}"
        case MomentKind.CHILD:
            line = f"child {item.get('thread')} {_told_by_child(item)}"
        case MomentKind.WORKSPACE:
            gone = item["text"] is None
            line = (
                f"deleted {item['path']}"
                if gone
                else f"wrote {item['path']}: {quoted(item['text'])}"
            )
        case MomentKind.COST:
            tokens = item["tokens"]
            line = (
                f"spent {sum(item['modelCalls'].values())} model calls, "
                f"{tokens['inputTokens']} tokens in, {tokens['outputTokens']} out, "
                f"{item['contentsSent']} contents sent"
            )
        case _:
            line = _args(item)
    return _line(line)


def _recorded(item: Any) -> str:
    if "files" in item:
        return f"{len(item['files'])} file{'' if len(item['files']) == 1 else 's'}"
    line = item.get("line")
    if isinstance(line, dict) and "type" in line:
        content = line.get("content")
        texts = content if isinstance(content, list) else [{"text": content}]
        calls = line.get("toolCalls")
        called = [str(call.get("name")) for call in calls or () if isinstance(call, dict)]
        told = f" with calls {', '.join(called)}" if called else ""
        return f"message of {line['type']}: {content_line({'parts': texts})}{told}"
    if isinstance(line, dict) and "sessionId" in line:
        return f"the head of {_file(item)}"
    if isinstance(line, dict) and isinstance(line.get("$set"), dict):
        return f"$set {', '.join(line['$set'])}"
    return quoted(json.dumps(line, ensure_ascii=False))


def _file(item: Any) -> str:
    return f"file {item['file']}" if "file" in item else f"the file of thread {item['thread']}"


def _told_by_child(item: Any) -> str:
    if "event" in item:
        return event_line(item["event"])
    if "activity" not in item:
        return f"is {item.get('agent')}"
    activity = item["activity"]
    data = activity.get("data")
    told = data if isinstance(data, dict) else {}
    said = told.get("text") or told.get("error")
    rest = quoted(said) if said else f"{told.get('name')} {_args(told.get('args'))}".strip()
    return f"told {activity.get('type')}: {rest}"


def _line(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"
