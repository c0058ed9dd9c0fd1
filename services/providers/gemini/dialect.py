"""A server of the Gemini API; see `services.providers.wire`.

Source: the Gemini API's reference, `generateContent`, `countTokens` and `embedContent`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from services.json_values import parse_json
from services.model.event_stream import event_stream
from services.model.replay.steps import StepMethod
from services.providers.dialect import HttpAnswer, WireCall, WireRequest
from services.providers.exchange import Asked, joined
from services.providers.provider import Provider
from services.providers.refusals import Refusal
from services.providers.shape import UnreadableMessage, items, mapping, required_mapping, text
from services.wire import Content, Json, JsonObject

__all__ = ["GeminiDialect", "as_the_api_writes"]

_PATH: Final = re.compile(r"/models/(?P<model>[^/:]+):(?P<method>\w+)$")
_METHODS: Final = {
    "generateContent": StepMethod.GENERATE,
    "streamGenerateContent": StepMethod.STREAM,
    "countTokens": StepMethod.COUNT_TOKENS,
    "embedContent": StepMethod.EMBED,
    "batchEmbedContents": StepMethod.EMBED,
}
_BATCH: Final = "requests"
"""The key of the texts of `batchEmbedContents`."""
_BESIDE: Final = ("systemInstruction", "tools", "toolConfig", "safetySettings", "cachedContent")
_NAMES: Final = {
    "parameters_json_schema": "parametersJsonSchema",
    "response_json_schema": "responseJsonSchema",
}


class GeminiDialect:
    """The format of the Gemini API."""

    provider: Final = Provider.GEMINI

    def serves(self, path: str) -> bool:
        """Whether a request to that path calls a model."""
        found = _PATH.search(path)
        return found is not None and found["method"] in _METHODS

    def read(self, request: WireRequest) -> WireCall:
        """Read a request.

        Raises:
            UnreadableMessage: it is no JSON object, or asks for a stream that is no event stream.
        """
        found = _PATH.search(request.path)
        assert found is not None, "the dialect serves the path"
        method, body = _METHODS[found["method"]], required_mapping(request.body, "the request")
        if method is StepMethod.STREAM and "sse" not in request.query.get("alt", ()):
            raise UnreadableMessage("a stream is served as events only; add alt=sse to the address")
        texts: tuple[str, ...] = ()
        if method is StepMethod.EMBED:
            single = found["method"] == "embedContent"
            asked = [body] if single else list(items(body.get(_BATCH)))
            texts = tuple(_text_of(mapping(each.get("content"))) for each in asked)
        return WireCall(
            method=method,
            asked=Asked(model=found["model"], contents=_contents(body), config=_config(body)),
            texts=texts,
            more={"single": found["method"] == "embedContent"},
        )

    def whole(
        self, call: WireCall, chunks: Sequence[JsonObject], new_id: Callable[[], str] | None
    ) -> JsonObject:
        """Return a whole answer, a count, or embeddings."""
        if call.method is StepMethod.EMBED:
            found = list(items(chunks[0].get("embeddings")))
            single: JsonObject = {"embedding": found[0] if found else {}}
            return single if call.more.get("single") else {"embeddings": found}
        whole: JsonObject = as_the_api_writes(chunks[0] if len(chunks) == 1 else joined(chunks))
        return whole

    def stream(
        self, call: WireCall, created: int, new_id: Callable[[], str] | None
    ) -> _EventWriter:
        """Return a writer of a stream."""
        return _EventWriter()

    def refused(self, refusal: Refusal) -> HttpAnswer:
        """Return the answer of a refusal."""
        return HttpAnswer(status=refusal.status, body=_body(refusal))


class _EventWriter:
    def feed(self, chunk: JsonObject) -> bytes:
        return event_stream([as_the_api_writes(chunk)])

    def end(self) -> bytes:
        return b""

    def broken(self, refusal: Refusal) -> bytes:
        return event_stream([_body(refusal)])


def _body(refusal: Refusal) -> JsonObject:
    if refusal.original is not None:
        return refusal.original
    try:
        found = parse_json(str(refusal.to_error(answering=False)))
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    return {"error": {"code": refusal.status, "message": refusal.message}}


def as_the_api_writes(response: Json) -> Json:
    """Return a response as the Gemini API writes it, which names citations differently."""
    if not isinstance(response, dict) or not response.get("candidates"):
        return response
    return {**response, "candidates": [_candidate(each) for each in response["candidates"]]}


def _candidate(candidate: JsonObject) -> JsonObject:
    metadata = candidate.get("citationMetadata")
    if not isinstance(metadata, dict) or "citations" not in metadata:
        return candidate
    renamed = {**metadata, "citationSources": metadata["citations"]}
    del renamed["citations"]
    return {**candidate, "citationMetadata": renamed}


def _contents(body: Mapping[str, Json]) -> list[Content]:
    contents = body.get("contents")
    return list(items([contents] if isinstance(contents, dict) else contents))


def _config(body: Mapping[str, Json]) -> JsonObject:
    config = {name: body[name] for name in _BESIDE if body.get(name) is not None}
    if "systemInstruction" in config:
        config["systemInstruction"] = _instruction(config["systemInstruction"])
    if "tools" in config:
        config["tools"] = [_tool(each) for each in items(config["tools"])]
    return {**mapping(body.get("generationConfig")), **config}


def _tool(tool: JsonObject) -> JsonObject:
    """Return a tool with the API's own names: google-genai sends two of them as Python has them."""
    declared = tool.get("functionDeclarations")
    if not isinstance(declared, list):
        return tool
    named = [
        {_NAMES.get(key, key): value for key, value in each.items()} for each in items(declared)
    ]
    return {**tool, "functionDeclarations": named}


def _instruction(instruction: Json) -> Json:
    """Return an instruction as the model seam has it: as text, if it has nothing else."""
    parts = list(items(mapping(instruction).get("parts")))
    is_text = bool(parts) and all(part.keys() == {"text"} for part in parts)
    return _text_of(mapping(instruction)) if is_text else instruction


def _text_of(content: Mapping[str, Json]) -> str:
    return "".join(text(part.get("text")) or "" for part in items(content.get("parts")))
