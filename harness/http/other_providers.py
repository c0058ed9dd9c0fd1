"""Translates recorded calls of OpenAI's and Anthropic's APIs to those of the Gemini API.

The replay answers in the Gemini API's format, and the seam under an agent's client translates each
answer to the format that the client speaks. So a recording of one provider also plays to an agent
that uses another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

from harness.http.events import parse_event_stream, parse_object
from harness.http.exchanges import ExchangeSkipped, HttpExchange, RawExchange
from services.json_values import parse_json
from services.model.event_stream import event_stream
from services.model.replay.steps import StepMethod
from services.providers.anthropic.answers import MessageReader, read_message
from services.providers.anthropic.dialect import AnthropicDialect
from services.providers.anthropic.refusals import (
    read_messages_refusal,
    read_messages_stream_error,
)
from services.providers.dialect import Dialect, WireCall, WireRequest
from services.providers.gemini.dialect import GeminiDialect
from services.providers.openai.answers import ChatReader, read_chat_completion
from services.providers.openai.dialect import OpenAIDialect
from services.providers.openai.refusals import read_chat_refusal, read_chat_stream_error
from services.providers.refusals import Refusal
from services.providers.shape import UnreadableMessage
from services.wire import Json, JsonObject, js_json

__all__ = ["as_gemini"]

_WAITS: Final = ("retry-after", "retry-after-ms")
_NOW: Final = 0
"""No time is needed to read a refusal: of its headers only the numbers are read."""


class _Reader(Protocol):
    def feed(self, event: Json) -> list[JsonObject]: ...

    def end(self) -> list[JsonObject]: ...


class _Format(NamedTuple):
    """How the answers of a provider are read."""

    dialect: Dialect
    reader: Callable[[], _Reader]
    whole: Callable[[Json], JsonObject]
    refusal: Callable[[int, Mapping[str, str], Json, int], Refusal]
    stream_error: Callable[[Json, int], Refusal]


_FORMATS: Final = (
    _Format(
        OpenAIDialect(),
        ChatReader,
        read_chat_completion,
        read_chat_refusal,
        read_chat_stream_error,
    ),
    _Format(
        AnthropicDialect(),
        MessageReader,
        read_message,
        read_messages_refusal,
        read_messages_stream_error,
    ),
)


def as_gemini(raw: RawExchange) -> HttpExchange | None:
    """Translate a call of OpenAI's or Anthropic's API; `None` for any other request.

    Raises:
        ExchangeSkipped: it is such a call, and cannot be replayed.
    """
    wire = WireRequest.to(raw.url, raw.request)
    found = next((each for each in _FORMATS if each.dialect.serves(wire.path)), None)
    if found is None or raw.method != "POST":
        return None
    provider = found.dialect.provider
    try:
        call = found.dialect.read(wire)
        if call.method is StepMethod.EMBED:
            raise ExchangeSkipped("not a model call: embeddings")
        status, body, chunks = _answer(raw, found, call)
    except UnreadableMessage as problem:
        raise ExchangeSkipped(f"{provider}: {problem}") from problem
    streams = call.method in (StepMethod.STREAM, StepMethod.GENERATE)
    return HttpExchange(
        index=raw.index,
        method=StepMethod.STREAM if streams else call.method,
        recorded_as=str(provider),
        model=call.asked.model or str(provider),
        request={"contents": list(call.asked.contents)},
        status=status,
        reason=raw.reason,
        body=body,
        chunks=chunks,
    )


def _answer(
    raw: RawExchange, found: _Format, call: WireCall
) -> tuple[int, bytes, tuple[JsonObject, ...]]:
    """Return the status, the body and the chunks that the Gemini API would give."""
    if raw.status != 200:
        waits = {
            name: value
            for name, value in raw.headers.items()
            if name in _WAITS and value.replace(".", "", 1).isdecimal()
        }
        refusal = found.refusal(raw.status, waits, _json_or_text(raw.body), _NOW)
        refused = GeminiDialect().refused(refusal)
        return refused.status, js_json(refused.body).encode(), ()
    if call.method is StepMethod.COUNT_TOKENS:
        counted: JsonObject = {"totalTokens": parse_object(raw.body).get("input_tokens", 0)}
        return 200, js_json(counted).encode(), (counted,)
    if call.method is StepMethod.STREAM:
        chunks = _streamed(raw, found)
    else:
        chunks = [found.whole(parse_object(raw.body))]
    if not any(chunk.get("candidates") or chunk.get("error") for chunk in chunks):
        raise ExchangeSkipped("the answer holds neither text nor calls")
    return 200, event_stream(chunks), tuple(chunks)


def _streamed(raw: RawExchange, found: _Format) -> list[JsonObject]:
    reader = found.reader()
    chunks: list[JsonObject] = []
    for event in parse_event_stream(raw.body):
        if event.get("error"):
            refusal = found.stream_error(event, _NOW)
            return [*chunks, GeminiDialect().refused(refusal).body]
        chunks += reader.feed(event)
    return [*chunks, *reader.end()]


def _json_or_text(body: bytes) -> Json:
    text = body.decode("utf-8", "replace")
    try:
        return parse_json(text)
    except ValueError:
        return text
