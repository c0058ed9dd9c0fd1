"""The Gemini API as a wire format of the model seam: google-genai's client, and ADK's models.

Source: https://ai.google.dev/api/generate-content; `harness/http/standin.py` speaks the same paths.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from adapters.model.formats import Call, HttpRequest
from harness.http.sse import as_the_api_writes, event_stream
from services.abort import AbortController
from services.model.errors import ApiError
from services.model.generator import LlmRole, ModelRequest
from services.wire import JsonObject, js_json

__all__ = ["GEMINI", "joined"]

_PATH: Final = re.compile(r"/models/(?P<model>[^/:]+):(?P<method>\w+)\Z")
_STREAM: Final = "streamGenerateContent"
_METHODS: Final = frozenset({"generateContent", _STREAM, "countTokens"})
_PROMPT: Final = "agent"
"""The prompt id of every request: an agent of a user has none."""


class _GeminiFormat:
    """Reads calls of `generateContent`, `streamGenerateContent` and `countTokens`."""

    def read(self, request: HttpRequest) -> Call | None:
        """See `WireFormat.read`; the host plays no part, since it may be a gateway's."""
        found = _PATH.search(request.path)
        if request.method != "POST" or found is None or found["method"] not in _METHODS:
            return None
        body = json.loads(request.body)
        if not isinstance(body, dict):
            raise ValueError("the body is no JSON object")
        return _GeminiCall(found["method"], found["model"], body)


class _GeminiCall:
    """One call; its answer has the same form as the cassette's chunks."""

    def __init__(self, method: str, model: str, body: JsonObject) -> None:
        self._method = method
        self._model = model
        self._body = body

    @property
    def request(self) -> ModelRequest:
        """The request: the generation's settings beside the instruction and the tools."""
        body = dict(self._body)
        contents: list[Any] = body.pop("contents", None) or []
        config: JsonObject = {**(body.pop("generationConfig", None) or {}), **body}
        instruction = config.pop("systemInstruction", None)
        if instruction is not None:
            config["systemInstruction"] = _text(instruction)
        if not (self.streams or self.counts):
            config["stream"] = False
        return ModelRequest(
            model=self._model,
            contents=contents,
            role=LlmRole.MAIN,
            prompt_id=_PROMPT,
            signal=AbortController().signal,
            config=config,
        )

    @property
    def streams(self) -> bool:
        """Whether the client wants the answer as it comes."""
        return self._method == _STREAM

    @property
    def counts(self) -> bool:
        """Whether it asks for a number of tokens."""
        return self._method == "countTokens"

    def chunk(self, chunk: JsonObject) -> bytes:
        """A chunk as an event."""
        return event_stream([as_the_api_writes(chunk)])

    def end(self) -> bytes:
        """Nothing: the body just ends."""
        return b""

    def whole(self, chunks: Sequence[JsonObject]) -> bytes:
        """The chunks as one response."""
        return js_json(as_the_api_writes(joined(chunks))).encode()

    def count(self, counted: JsonObject) -> bytes:
        """The number of tokens, as it is."""
        return js_json(counted).encode()

    def error(self, error: ApiError) -> bytes:
        """The error's message, which is the API's JSON."""
        try:
            known = isinstance(json.loads(str(error)), dict)
        except ValueError:
            known = False
        if known:
            return str(error).encode()
        return js_json({"error": {"code": error.status, "message": str(error)}}).encode()

    def late_error(self, error: ApiError) -> bytes:
        """The error as an event."""
        return event_stream([json.loads(self.error(error))])


def joined(chunks: Sequence[JsonObject]) -> JsonObject:
    """Join the chunks of a stream into one response; consecutive pieces of text become one part.

    The last chunk that has a key other than the parts decides its value.
    """
    response: JsonObject = {}
    parts: list[JsonObject] = []
    candidate: JsonObject = {}
    for chunk in chunks:
        response.update({key: value for key, value in chunk.items() if key != "candidates"})
        for one in (chunk.get("candidates") or ())[:1]:
            content = one.get("content") or {}
            candidate.update({key: value for key, value in one.items() if key != "content"})
            for part in content.get("parts") or ():
                _add(parts, part)
    if chunks and any("candidates" in chunk for chunk in chunks):
        content = {"role": "model", "parts": parts} if parts else {"role": "model"}
        response["candidates"] = [{"content": content, **candidate}]
    return response


def _add(parts: list[JsonObject], part: JsonObject) -> None:
    last = parts[-1] if parts else None
    if last is not None and _kind_of_text(last) == _kind_of_text(part) is not None:
        parts[-1] = {**last, **part, "text": last["text"] + part["text"]}
    else:
        parts.append(dict(part))


def _kind_of_text(part: JsonObject) -> str | None:
    """Return `thought` or `text` for a part with text, and `None` for another."""
    if not isinstance(part.get("text"), str):
        return None
    return "thought" if part.get("thought") else "text"


def _text(instruction: Any) -> str:
    """Return the text of a system instruction."""
    if isinstance(instruction, str):
        return instruction
    parts = instruction.get("parts") if isinstance(instruction, dict) else None
    texts = [part.get("text") for part in parts or () if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


GEMINI: Final = _GeminiFormat()
