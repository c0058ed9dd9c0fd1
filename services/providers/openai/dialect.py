"""A server of Chat Completions; see `services.providers.wire`."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from services.model.replay.steps import StepMethod
from services.providers.dialect import HttpAnswer, WireCall, WireRequest
from services.providers.exchange import Asked
from services.providers.openai.answers import ChatWriter, chat_completion
from services.providers.openai.counting import read_count_body
from services.providers.openai.refusals import chat_refusal, chat_stream_error
from services.providers.openai.requests import read_chat_body
from services.providers.provider import Provider
from services.providers.refusals import Refusal
from services.providers.shape import UnreadableMessage, items, required_mapping, text
from services.wire import Json, JsonObject

__all__ = ["OpenAIDialect"]

_CHAT: Final = "/chat/completions"
_EMBEDDINGS: Final = "/embeddings"
_RESPONSES: Final = "/v1/responses"
_COUNT: Final = "/responses/input_tokens"


class OpenAIDialect:
    """The format of OpenAI and of the servers that are compatible with it."""

    provider: Final = Provider.OPENAI

    def serves(self, path: str) -> bool:
        """Whether a request to that path calls a model."""
        return path.endswith((_CHAT, _EMBEDDINGS, _RESPONSES, _COUNT))

    def read(self, request: WireRequest) -> WireCall:
        """Read a request.

        Raises:
            UnreadableMessage: it is no JSON object, or calls the Responses API.
        """
        if request.path.endswith(_RESPONSES):
            raise UnreadableMessage(
                "OpenAI's Responses API is not served; call chat.completions.create instead"
            )
        if request.path.endswith(_EMBEDDINGS):
            return _embedding(request.body)
        if request.path.endswith(_COUNT):
            return WireCall(method=StepMethod.COUNT_TOKENS, asked=read_count_body(request.body))
        found = read_chat_body(request.body)
        method = StepMethod.STREAM if found.streams else StepMethod.GENERATE
        return WireCall(method=method, asked=found.asked, more={"usage": found.counts_usage})

    def whole(
        self, call: WireCall, chunks: Sequence[JsonObject], new_id: Callable[[], str] | None
    ) -> JsonObject:
        """Return a whole answer, a count, or embeddings."""
        if call.method is StepMethod.EMBED:
            return _embedded(call, chunks[0])
        if call.method is StepMethod.COUNT_TOKENS:
            counted = chunks[0].get("totalTokens", 0)
            return {"object": "response.input_tokens", "input_tokens": counted}
        return chat_completion(chunks, new_id=new_id)

    def stream(
        self, call: WireCall, created: int, new_id: Callable[[], str] | None
    ) -> _EventWriter:
        """Return a writer of a stream."""
        usage = call.more.get("usage") is True
        return _EventWriter(ChatWriter(created=created, counts_usage=usage, new_id=new_id))

    def refused(self, refusal: Refusal) -> HttpAnswer:
        """Return the answer of a refusal."""
        status, headers, body = chat_refusal(refusal)
        return HttpAnswer(status=status, headers=headers, body=body)


class _EventWriter:
    def __init__(self, writer: ChatWriter) -> None:
        self._writer = writer

    def feed(self, chunk: JsonObject) -> bytes:
        return _events(self._writer.feed(chunk))

    def end(self) -> bytes:
        return _events(self._writer.end()) + b"data: [DONE]\n\n"

    def broken(self, refusal: Refusal) -> bytes:
        return _events([chat_stream_error(refusal)])


def _events(events: Sequence[JsonObject]) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(event).encode("ascii") for event in events)


def _embedding(body: Json) -> WireCall:
    body = required_mapping(body, "the request")
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    return WireCall(
        method=StepMethod.EMBED,
        asked=Asked(model=text(body.get("model")) or "", contents=()),
        texts=tuple(each for each in texts if isinstance(each, str)),
        more={"base64": body.get("encoding_format") == "base64"},
    )


def _embedded(call: WireCall, answer: Mapping[str, Json]) -> JsonObject:
    data = [
        {"object": "embedding", "index": index, "embedding": _vector(call, each.get("values"))}
        for index, each in enumerate(items(answer.get("embeddings")))
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": call.asked.model, "usage": usage}


def _vector(call: WireCall, values: Json) -> Json:
    numbers = values if isinstance(values, list) else []
    if not call.more.get("base64"):
        return numbers
    packed = struct.pack(f"<{len(numbers)}f", *numbers)
    return base64.b64encode(packed).decode("ascii")
