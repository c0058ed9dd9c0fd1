"""A server of Messages; see `services.providers.wire`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from services.model.replay.steps import StepMethod
from services.providers.anthropic.answers import MessageWriter, message
from services.providers.anthropic.refusals import messages_refusal, messages_stream_error
from services.providers.anthropic.requests import read_messages_body
from services.providers.dialect import HttpAnswer, WireCall, WireRequest
from services.providers.provider import Provider
from services.providers.refusals import Refusal
from services.wire import JsonObject

__all__ = ["AnthropicDialect"]

_MESSAGES: Final = "/v1/messages"
_COUNT: Final = "/v1/messages/count_tokens"


class AnthropicDialect:
    """The format of Anthropic's Messages."""

    provider: Final = Provider.ANTHROPIC

    def serves(self, path: str) -> bool:
        """Whether a request to that path calls a model."""
        return path.endswith((_MESSAGES, _COUNT))

    def read(self, request: WireRequest) -> WireCall:
        """Read a request.

        Raises:
            UnreadableMessage: it is no JSON object.
        """
        found = read_messages_body(request.body)
        method = StepMethod.STREAM if found.streams else StepMethod.GENERATE
        if request.path.endswith(_COUNT):
            method = StepMethod.COUNT_TOKENS
        return WireCall(method=method, asked=found.asked)

    def whole(
        self, call: WireCall, chunks: Sequence[JsonObject], new_id: Callable[[], str] | None
    ) -> JsonObject:
        """Return a whole answer, or a count."""
        if call.method is StepMethod.COUNT_TOKENS:
            return {"input_tokens": chunks[0].get("totalTokens", 0)}
        return message(chunks, new_id=new_id)

    def stream(
        self, call: WireCall, created: int, new_id: Callable[[], str] | None
    ) -> _EventWriter:
        """Return a writer of a stream."""
        return _EventWriter(MessageWriter(new_id=new_id))

    def refused(self, refusal: Refusal) -> HttpAnswer:
        """Return the answer of a refusal."""
        status, headers, body = messages_refusal(refusal)
        return HttpAnswer(status=status, headers=headers, body=body)


class _EventWriter:
    def __init__(self, writer: MessageWriter) -> None:
        self._writer = writer

    def feed(self, chunk: JsonObject) -> bytes:
        return _events(self._writer.feed(chunk))

    def end(self) -> bytes:
        return _events(self._writer.end())

    def broken(self, refusal: Refusal) -> bytes:
        return _events([messages_stream_error(refusal)])


def _events(events: Sequence[JsonObject]) -> bytes:
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode("ascii"))
        for event in events
    )
