"""Answers of Chat Completions, whole and streamed, from and to those of the Gemini API.

Source: OpenAI's API reference, "The chat completion object" and "The chat completion chunk object".
`reasoning_content` (and `reasoning`) and `extra_content` are additions of compatible servers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from services.providers.answer_losses import BLOCKED, MALFORMED, Chunks, finish_of, losing_one
from services.providers.arranging import Arrangement, Named
from services.providers.carried import packed, unpacked
from services.providers.exchange import joined, parts_of
from services.providers.losing import reduced
from services.providers.openai.answer_losses import (
    CHUNK_LOSSES,
    WHOLE_ANSWER_LOSSES,
)
from services.providers.provider import Provider
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

__all__ = ["ChatReader", "ChatWriter", "chat_completion", "read_chat_completion"]

_FINISHES: Final = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "function_call": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}
_UNREADABLE: Final = "{"
"""Arguments of a call that are no JSON."""
_PIECES: Final = 3
"""Into how many pieces a written stream cuts the arguments of a call."""


@dataclass(slots=True)
class _Call:
    """A call whose pieces arrive."""

    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: JsonObject | None = None
    named: Named = field(default_factory=Named)


class ChatReader:
    """Reads the events of one stream.

    Args:
        names: The names of functions that the request replaced: the sent name → its own.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._names = names or {}
        self._arranged = Arrangement()
        self._calls: dict[int, _Call] = {}
        self._malformed = False

    def feed(self, event: Json) -> list[JsonObject]:
        """Return the chunks that an event completes.

        Raises:
            UnreadableMessage: it is no JSON object.
        """
        event = required_mapping(event, "an event of the stream")
        self._arranged.describe(event.get("model"), event.get("id"))
        self._arranged.finish(None, _read_usage(mapping(event.get("usage"))))
        found: list[JsonObject] = []
        for choice in items(event.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            found += self._delta(mapping(choice.get("delta") or choice.get("message")))
            reason = text(choice.get("finish_reason"))
            if reason:
                self._arranged.finish(_FINISHES.get(reason, "OTHER"), None)
        return found

    def end(self) -> list[JsonObject]:
        """Return the chunks that are left at the end of the stream."""
        found = self._completed()
        if self._malformed:
            self._arranged.finish(MALFORMED, None)
        return [*found, *self._arranged.end()]

    def _delta(self, delta: JsonObject) -> list[JsonObject]:
        found: list[JsonObject] = []
        thought = text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
        if thought:
            found += [*self._completed(), *self._arranged.add({"text": thought, "thought": True})]
        for said in (_said(delta.get("content")), text(delta.get("refusal"))):
            if said:
                found += [*self._completed(), *self._arranged.add({"text": said})]
        for place, piece in enumerate(items(delta.get("tool_calls"))):
            found += self._arranged.thought_ends()
            self._piece(place, piece)
        return found

    def _piece(self, place: int, piece: JsonObject) -> None:
        index = piece.get("index")
        place = index if isinstance(index, int) else place
        function = mapping(piece.get("function"))
        call_id, name = text(piece.get("id")) or "", text(function.get("name")) or ""
        call = self._calls.get(place)
        if call is not None and call_id and name and call.call_id not in ("", call_id):
            # Some servers count every call as the first one.
            place = max(self._calls) + 1
            call = None
        if call is None:
            call = self._calls[place] = _Call()
        call.named = self._arranged.named
        call.call_id = call.call_id or call_id
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = compact(arguments)
        call.arguments.append(text(arguments) or "")
        extra = piece.get("extra_content")
        call.extra = extra if isinstance(extra, dict) else call.extra

    def _completed(self) -> list[JsonObject]:
        """Hand over the calls, which no further piece can change."""
        calls, self._calls = list(self._calls.values()), {}
        found: list[JsonObject] = []
        for call in calls:
            source = "".join(call.arguments).strip()
            args = parsed_object(source) if source else {}
            if args is None:
                self._malformed = True
                continue
            wire: JsonObject = {"name": self._names.get(call.name, call.name), "args": args}
            if call.call_id:
                wire = {"id": call.call_id, **wire}
            part: Part = {"functionCall": wire}
            if call.extra is not None:
                part["thoughtSignature"] = packed(Provider.OPENAI, call.extra)
            found += self._arranged.add(part, call.named)
        return found


def _said(content: Json) -> str | None:
    """The text of a delta, which some servers send as a list of blocks."""
    if isinstance(content, list):
        return "".join(text(block.get("text")) or "" for block in items(content))
    return text(content)


def read_chat_completion(body: Json, names: Mapping[str, str] | None = None) -> JsonObject:
    """Return a whole answer as the Gemini API's.

    Raises:
        UnreadableMessage: it is no JSON object.
    """
    reader = ChatReader(names)
    return joined([*reader.feed(required_mapping(body, "the answer")), *reader.end()])


def _read_usage(usage: JsonObject) -> JsonObject | None:
    prompt, completion = number(usage.get("prompt_tokens")), number(usage.get("completion_tokens"))
    thoughts = number(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    cached = number(mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
    total = number(usage.get("total_tokens"))
    found: JsonObject = {}
    if prompt is not None:
        found["promptTokenCount"] = prompt
    if completion is not None:
        found["candidatesTokenCount"] = completion - (thoughts or 0)
    if total is not None or found:
        found["totalTokenCount"] = (prompt or 0) + (completion or 0) if total is None else total
    if cached:
        found["cachedContentTokenCount"] = cached
    if thoughts:
        found["thoughtsTokenCount"] = thoughts
    return found or None


class ChatWriter:
    """Writes the events of one stream.

    Args:
        created: The time of the answer, in seconds since the Unix epoch.
        counts_usage: Whether the request asks for the number of tokens.
        new_id: Returns an id for a call without one; `None` leaves it without.
    """

    def __init__(
        self,
        *,
        created: int = 0,
        counts_usage: bool = True,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self._head: JsonObject = {"object": "chat.completion.chunk", "created": created}
        self._counts_usage = counts_usage
        self._new_id = new_id
        self._indices = count()
        self._chunks: list[JsonObject] = []
        self._finish: str | None = None
        self._usage: JsonObject | None = None
        self._began = False

    def feed(self, chunk: JsonObject) -> list[JsonObject]:
        """Return the events of a chunk of the Gemini API; its losses are removed first."""
        found: list[JsonObject] = []
        for each in losing_one(chunk, CHUNK_LOSSES):
            self._head = {**_names(each), **self._head}
            for part in parts_of(each):
                found += [self._event(delta) for delta in self._deltas(part)]
            self._finish = finish_of(each) or self._finish
            self._usage = each.get("usageMetadata") or self._usage
        return found

    def end(self) -> list[JsonObject]:
        """Return the events at the end of the stream."""
        found: list[JsonObject] = []
        if self._finish == MALFORMED:
            broken = {"index": next(self._indices), **_unreadable_call()}
            found.append(self._event({"tool_calls": [broken]}))
        if self._finish is not None:
            calls = next(self._indices) > 0
            found.append(self._event({}, _finish_reason(self._finish, calls=calls)))
        if self._usage is not None and self._counts_usage:
            found.append({**self._full_head(), "choices": [], "usage": _usage(self._usage)})
        return found

    def _event(self, delta: JsonObject, finish: str | None = None) -> JsonObject:
        if not self._began:
            self._began = True
            delta = {"role": "assistant", **delta}
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._full_head(), "choices": [choice], "usage": None}

    def _full_head(self) -> JsonObject:
        return {"id": "", "model": "", **self._head}

    def _deltas(self, part: Part) -> Iterator[JsonObject]:
        if part.get("thought"):
            yield {"reasoning_content": part["text"]}
        elif "text" in part:
            yield {"content": part["text"]}
        else:
            yield from self._call(part)

    def _call(self, part: Part) -> Iterator[JsonObject]:
        call, index = part["functionCall"], next(self._indices)
        arguments = compact(call["args"])
        first = _tool_call(part, "", self._new_id)
        yield {"tool_calls": [{"index": index, **first}]}
        length = max(1, -(-len(arguments) // _PIECES))
        for start in range(0, len(arguments), length):
            piece = {"arguments": arguments[start : start + length]}
            yield {"tool_calls": [{"index": index, "function": piece}]}


def _names(chunk: JsonObject) -> JsonObject:
    found = {"id": chunk.get("responseId"), "model": chunk.get("modelVersion")}
    return {name: value for name, value in found.items() if value and isinstance(value, str)}


def _finish_reason(reason: str, *, calls: bool) -> str:
    if reason == "STOP" or reason == MALFORMED:
        return "tool_calls" if calls else "stop"
    if reason == "MAX_TOKENS":
        return "length"
    return "content_filter" if reason in BLOCKED else "other"


def _tool_call(part: Part, arguments: str, new_id: Callable[[], str] | None) -> JsonObject:
    call = part["functionCall"]
    found: JsonObject = {"type": "function"}
    call_id = call.get("id") or (new_id() if new_id is not None else None)
    if call_id:
        found["id"] = call_id
    found["function"] = {"name": call["name"], "arguments": arguments}
    extra = unpacked(Provider.OPENAI, part.get("thoughtSignature"))
    return found if extra is None else {**found, "extra_content": extra}


def _unreadable_call() -> JsonObject:
    function = {"name": "unreadable", "arguments": _UNREADABLE}
    return {"id": "call_unreadable", "type": "function", "function": function}


def _usage(usage: JsonObject) -> JsonObject:
    found: JsonObject = {}
    thoughts = usage.get("thoughtsTokenCount", 0)
    if "promptTokenCount" in usage:
        found["prompt_tokens"] = usage["promptTokenCount"]
    if "candidatesTokenCount" in usage:
        found["completion_tokens"] = usage["candidatesTokenCount"] + thoughts
    found["total_tokens"] = usage["totalTokenCount"]
    if thoughts:
        found["completion_tokens_details"] = {"reasoning_tokens": thoughts}
    if usage.get("cachedContentTokenCount"):
        found["prompt_tokens_details"] = {"cached_tokens": usage["cachedContentTokenCount"]}
    return found


def chat_completion(
    chunks: Sequence[JsonObject], *, created: int = 0, new_id: Callable[[], str] | None = None
) -> JsonObject:
    """Return the chunks of an answer as one whole answer."""
    kept: Chunks = reduced(chunks, WHOLE_ANSWER_LOSSES)
    whole = joined(kept)
    reason = finish_of(whole)
    texts = [part for part in parts_of(whole) if "text" in part]
    calls = [
        _tool_call(part, compact(part["functionCall"]["args"]), new_id)
        for part in parts_of(whole)
        if "functionCall" in part
    ]
    if reason == MALFORMED:
        calls.append(_unreadable_call())
    said = "".join(part["text"] for part in texts if not part.get("thought"))
    message: JsonObject = {"role": "assistant", "content": said or None, "refusal": None}
    thought = "".join(part["text"] for part in texts if part.get("thought"))
    if thought:
        message["reasoning_content"] = thought
    if calls:
        message["tool_calls"] = calls
    finish = None if reason is None else _finish_reason(reason, calls=bool(calls))
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    found = {"id": "", "model": "", **_names(whole), "object": "chat.completion"}
    found |= {"created": created, "choices": [choice]}
    usage = whole.get("usageMetadata")
    return found if usage is None else {**found, "usage": _usage(usage)}
