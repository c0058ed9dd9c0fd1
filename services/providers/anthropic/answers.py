"""Answers of Messages, whole and streamed, from and to those of the Gemini API.

Source: Anthropic's API reference, "Create a message" and "Streaming messages".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.providers.answer_losses import BLOCKED, MALFORMED, finish_of, losing_one
from services.providers.anthropic.answer_losses import CHUNK_LOSSES
from services.providers.anthropic.thinking import read_block, signature_of, signed_blocks
from services.providers.arranging import Arrangement
from services.providers.exchange import joined, parts_of
from services.providers.shape import (
    compact,
    items,
    mapping,
    number,
    parsed_object,
    required_mapping,
    text,
)
from services.wire import Json, JsonObject, Part

__all__ = ["MessageReader", "MessageWriter", "message", "read_message"]

_FINISHES: Final = {
    "end_turn": "STOP",
    "stop_sequence": "STOP",
    "tool_use": "STOP",
    "pause_turn": "STOP",
    "max_tokens": "MAX_TOKENS",
    "model_context_window_exceeded": "MAX_TOKENS",
    "refusal": "SAFETY",
}
_UNREADABLE: Final = "{"
"""The input of a call that is no JSON."""
_PIECES: Final = 3
"""Into how many pieces a written stream cuts the input of a call."""
_OPEN: Final = -1
"""The number of a block that no event named."""


@dataclass(slots=True)
class _Block:
    """A block whose pieces arrive."""

    kind: str
    start: JsonObject
    pieces: list[str] = field(default_factory=list)
    signature: str = ""


class MessageReader:
    """Reads the events of one stream.

    Args:
        names: The names of functions that the request replaced: the sent name → its own.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._names = names or {}
        self._arranged = Arrangement()
        self._blocks: dict[int, _Block] = {}
        self._thinking: list[JsonObject] = []
        self._usage: JsonObject = {}
        self._malformed = False

    def feed(self, event: Json) -> list[JsonObject]:
        """Return the chunks that an event completes.

        Raises:
            UnreadableMessage: it is no JSON object.
        """
        event = required_mapping(event, "an event of the stream")
        kind = event.get("type")
        if kind == "message_start":
            begun = mapping(event.get("message"))
            self._arranged.describe(begun.get("model"), begun.get("id"))
            self._count(mapping(begun.get("usage")))
        elif kind == "content_block_start":
            return self._starts(event)
        elif kind == "content_block_delta":
            return self._delta(event)
        elif kind == "content_block_stop":
            return self._stops(_place(event))
        elif kind == "message_delta":
            self._count(mapping(event.get("usage")))
            reason = text(mapping(event.get("delta")).get("stop_reason"))
            if reason:
                self._arranged.finish(_FINISHES.get(reason, "OTHER"), None)
            # What the start alone counts is not the whole.
            self._arranged.finish(None, _read_usage(self._usage))
        return []

    def end(self) -> list[JsonObject]:
        """Return the chunks that are left at the end of the stream."""
        # A call that broke off is none.
        self._blocks = {place: each for place, each in self._blocks.items() if each.kind != "call"}
        found = [chunk for place in list(self._blocks) for chunk in self._stops(place)]
        if self._malformed:
            self._arranged.finish(MALFORMED, None)
        return [*found, *self._arranged.end()]

    def _count(self, usage: JsonObject) -> None:
        self._usage |= {name: value for name, value in usage.items() if value is not None}

    def _starts(self, event: JsonObject) -> list[JsonObject]:
        start = mapping(event.get("content_block"))
        kinds = {"text": "text", "thinking": "thinking", "tool_use": "call"}
        block = _Block(kinds.get(str(start.get("type")), "other"), start)
        self._blocks[_place(event)] = block
        said = text(start.get("text")) if block.kind == "text" else None
        return self._said(said) if said else []

    def _delta(self, event: JsonObject) -> list[JsonObject]:
        delta = mapping(event.get("delta"))
        block = self._blocks.get(_place(event))
        if block is None:
            return []
        if block.kind == "text":
            said = text(delta.get("text"))
            return self._said(said) if said else []
        piece = text(delta.get("thinking")) or text(delta.get("partial_json"))
        block.pieces.append(piece or "")
        block.signature += text(delta.get("signature")) or ""
        return []

    def _said(self, said: str) -> list[JsonObject]:
        return self._arranged.add(self._signed({"text": said}))

    def _signed(self, part: Part) -> Part:
        signature = signature_of(self._thinking)
        self._thinking = []
        return part if signature is None else {**part, "thoughtSignature": signature}

    def _stops(self, place: int) -> list[JsonObject]:
        block = self._blocks.pop(place, None)
        if block is None:
            return []
        if block.kind == "call":
            return self._called(block)
        start = block.start
        if block.kind == "thinking":
            thought = (text(start.get("thinking")) or "") + "".join(block.pieces)
            signature = (text(start.get("signature")) or "") + block.signature
            start = {**start, "thinking": thought, "signature": signature}
        found = read_block(start)
        if found is None:
            return []
        self._thinking.append(found)
        if not found.get("thinking"):
            return []
        thought_part = {"text": found["thinking"], "thought": True}
        return [*self._arranged.add(thought_part), *self._arranged.thought_ends()]

    def _called(self, block: _Block) -> list[JsonObject]:
        source = "".join(block.pieces).strip()
        whole = block.start.get("input") or {}
        args = parsed_object(source) if source else whole
        if not isinstance(args, dict):
            self._malformed = True
            return []
        name, call_id = text(block.start.get("name")) or "", text(block.start.get("id"))
        call: JsonObject = {"name": self._names.get(name, name), "args": args}
        if call_id:
            call = {"id": call_id, **call}
        return self._arranged.add(self._signed({"functionCall": call}))


def _place(event: JsonObject) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else _OPEN


def read_message(body: Json, names: Mapping[str, str] | None = None) -> JsonObject:
    """Return a whole answer as the Gemini API's.

    Raises:
        UnreadableMessage: it is no JSON object.
    """
    body = required_mapping(body, "the answer")
    reader = MessageReader(names)
    chunks = [chunk for event in _as_events(body) for chunk in reader.feed(event)]
    return joined([*chunks, *reader.end()])


def _as_events(body: JsonObject) -> Iterator[JsonObject]:
    yield {"type": "message_start", "message": body}
    for index, block in enumerate(items(body.get("content"))):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": body, "usage": body.get("usage")}


def _read_usage(usage: JsonObject) -> JsonObject | None:
    cached = number(usage.get("cache_read_input_tokens")) or 0
    written = number(usage.get("cache_creation_input_tokens")) or 0
    prompt = (number(usage.get("input_tokens")) or 0) + cached + written
    output = number(usage.get("output_tokens")) or 0
    thoughts = number(mapping(usage.get("output_tokens_details")).get("thinking_tokens")) or 0
    if not (prompt or output):
        return None
    found: JsonObject = {"promptTokenCount": prompt, "candidatesTokenCount": output - thoughts}
    found["totalTokenCount"] = prompt + output
    if cached:
        found["cachedContentTokenCount"] = cached
    return {**found, "thoughtsTokenCount": thoughts} if thoughts else found


class MessageWriter:
    """Writes the events of one stream.

    Args:
        new_id: Returns an id for a call without one; `None` leaves it without.
    """

    def __init__(self, *, new_id: Callable[[], str] | None = None) -> None:
        self._new_id = new_id
        self._index = -1
        self._thoughts: list[str] = []
        self._in_text = False
        self._calls = False
        self._began = False
        self._finish: str | None = None
        self._usage: JsonObject | None = None

    def feed(self, chunk: JsonObject) -> list[JsonObject]:
        """Return the events of a chunk of the Gemini API; its losses are removed first."""
        return [event for each in losing_one(chunk, CHUNK_LOSSES) for event in self._fed(each)]

    def _fed(self, chunk: JsonObject) -> Iterator[JsonObject]:
        yield from self._begins(chunk)
        for part in parts_of(chunk):
            if part.get("thought"):
                self._thoughts.append(part["text"])
                continue
            yield from self._blocks(part.get("thoughtSignature"))
            if "text" in part:
                yield from self._text(part["text"])
            else:
                yield from self._call(part)
        self._finish = finish_of(chunk) or self._finish
        self._usage = chunk.get("usageMetadata") or self._usage

    def end(self) -> list[JsonObject]:
        """Return the events at the end of the stream."""
        return list(self._ended())

    def _ended(self) -> Iterator[JsonObject]:
        yield from self._begins({})
        yield from self._blocks(None)
        if self._finish == MALFORMED:
            yield from self._block(_unreadable_call(), [_json_delta(_UNREADABLE)])
            self._calls = True
        yield from self._text_ends()
        if self._finish is not None or self._usage is not None:
            reason = None if self._finish is None else _stop_reason(self._finish, self._calls)
            yield {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 0} if self._usage is None else _usage(self._usage),
            }
        yield {"type": "message_stop"}

    def _begins(self, chunk: JsonObject) -> Iterator[JsonObject]:
        if self._began:
            return
        self._began = True
        yield {
            "type": "message_start",
            "message": {
                "id": chunk.get("responseId") or "",
                "type": "message",
                "role": "assistant",
                "model": chunk.get("modelVersion") or "",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        }

    def _blocks(self, signature: Json) -> Iterator[JsonObject]:
        blocks = signed_blocks(self._thoughts, signature)
        self._thoughts = []
        for block in blocks:
            if block["type"] == "redacted_thinking":
                yield from self._block(block, [])
                continue
            deltas: list[JsonObject] = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            yield from self._block(empty, [each for each in deltas if each[_payload(each)]])

    def _text(self, said: str) -> Iterator[JsonObject]:
        if not self._in_text:
            self._index += 1
            self._in_text = True
            yield self._start({"type": "text", "text": ""})
        yield self._delta({"type": "text_delta", "text": said})

    def _text_ends(self) -> Iterator[JsonObject]:
        if self._in_text:
            self._in_text = False
            yield {"type": "content_block_stop", "index": self._index}

    def _call(self, part: Part) -> Iterator[JsonObject]:
        call = part["functionCall"]
        self._calls = True
        source = compact(call["args"])
        length = max(1, -(-len(source) // _PIECES))
        pieces = [source[start : start + length] for start in range(0, len(source), length)]
        call_id = call.get("id") or (self._new_id() if self._new_id is not None else None)
        block = {"type": "tool_use", "id": call_id, "name": call["name"], "input": {}}
        if not call_id:
            del block["id"]
        yield from self._block(block, [_json_delta(""), *map(_json_delta, pieces)])

    def _block(self, block: JsonObject, deltas: Iterable[JsonObject]) -> Iterator[JsonObject]:
        yield from self._text_ends()
        self._index += 1
        yield self._start(block)
        yield from map(self._delta, deltas)
        yield {"type": "content_block_stop", "index": self._index}

    def _start(self, block: JsonObject) -> JsonObject:
        return {"type": "content_block_start", "index": self._index, "content_block": block}

    def _delta(self, delta: JsonObject) -> JsonObject:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}


def _payload(delta: JsonObject) -> str:
    return next(key for key in delta if key != "type")


def _json_delta(piece: str) -> JsonObject:
    return {"type": "input_json_delta", "partial_json": piece}


def _unreadable_call() -> JsonObject:
    return {"type": "tool_use", "id": "toolu_unreadable", "name": "unreadable", "input": {}}


def _stop_reason(reason: str, calls: bool) -> str:
    if reason in ("STOP", MALFORMED):
        return "tool_use" if calls else "end_turn"
    if reason == "MAX_TOKENS":
        return "max_tokens"
    return "refusal" if reason in BLOCKED else "other"


def _usage(usage: JsonObject) -> JsonObject:
    cached, thoughts = usage.get("cachedContentTokenCount", 0), usage.get("thoughtsTokenCount", 0)
    found: JsonObject = {"input_tokens": usage["promptTokenCount"] - cached}
    if cached:
        found["cache_read_input_tokens"] = cached
    found["output_tokens"] = usage["candidatesTokenCount"] + thoughts
    return {**found, "output_tokens_details": {"thinking_tokens": thoughts}} if thoughts else found


def message(chunks: Sequence[JsonObject], *, new_id: Callable[[], str] | None = None) -> JsonObject:
    """Return the chunks of an answer as one whole answer."""
    writer = MessageWriter(new_id=new_id)
    events = [*(event for chunk in chunks for event in writer.feed(chunk)), *writer.end()]
    found: JsonObject = {}
    for event in events:
        _fold(found, event)
    for block in found["content"]:
        source = block.pop("partial_json", None)
        if source is not None:
            args = parsed_object(source)
            # An input that is no JSON stays a text: a whole answer has no place for a piece.
            block["input"] = source if args is None else args
    return found


def _fold(found: JsonObject, event: JsonObject) -> None:
    """Add an event to a whole answer."""
    kind = event["type"]
    if kind == "message_start":
        found |= event["message"]
    elif kind == "content_block_start":
        found["content"].append(dict(event["content_block"]))
    elif kind == "content_block_delta":
        name = _payload(event["delta"])
        block = found["content"][-1]
        block[name] = block.get(name, "") + event["delta"][name]
    elif kind == "message_delta":
        found |= event["delta"]
        found["usage"] = event["usage"]
