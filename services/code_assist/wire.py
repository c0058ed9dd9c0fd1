"""The requests and answers of Code Assist, from and to those of the Gemini API.

Source: core `code_assist/converter.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from services.model.generator import ModelRequest
from services.wire import Content, JsonObject, Part

__all__ = ["count_request", "counted", "generate_request", "generated"]

_GENERATION: Final = (
    "temperature",
    "topP",
    "topK",
    "candidateCount",
    "maxOutputTokens",
    "stopSequences",
    "responseLogprobs",
    "logprobs",
    "presencePenalty",
    "frequencyPenalty",
    "seed",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "routingConfig",
    "modelSelectionConfig",
    "responseModalities",
    "mediaResolution",
    "speechConfig",
    "audioTimestamp",
    "thinkingConfig",
)
_BESIDE: Final = ("cachedContent", "tools", "toolConfig", "labels", "safetySettings")
_ANSWERED: Final = ("candidates", "promptFeedback", "usageMetadata", "modelVersion")
_SENDABLE: Final = ("functionCall", "functionResponse", "inlineData", "fileData")


def generate_request(request: ModelRequest, project: str | None, session_id: str) -> JsonObject:
    """The body of `generateContent` and `streamGenerateContent`."""
    config = request.config
    inner: JsonObject = {"contents": _contents(request.contents)}
    instruction = config.get("systemInstruction")
    if instruction:
        inner["systemInstruction"] = _instruction(instruction)
    inner.update(_given(config, _BESIDE))
    inner["generationConfig"] = _given(config, _GENERATION)
    inner["session_id"] = session_id
    body: JsonObject = {"model": request.model}
    if project is not None:
        body["project"] = project
    return {**body, "user_prompt_id": request.prompt_id, "request": inner}


def count_request(request: ModelRequest) -> JsonObject:
    """The body of `countTokens`."""
    return {
        "request": {"model": f"models/{request.model}", "contents": _contents(request.contents)}
    }


def generated(answer: JsonObject) -> JsonObject:
    """An answer, or a chunk of one, as the Gemini API has it."""
    trace = answer.get("traceId")
    found: JsonObject = {} if trace is None else {"responseId": trace}
    inner = answer.get("response")
    if not isinstance(inner, dict):
        return {**found, "candidates": []}
    return {**found, "candidates": [], **_given(inner, _ANSWERED)}


def counted(answer: JsonObject) -> JsonObject:
    """The answer of `countTokens` as the Gemini API has it."""
    return {"totalTokens": answer.get("totalTokens") or 0}


def _given(source: JsonObject, names: Iterable[str]) -> JsonObject:
    return {name: source[name] for name in names if source.get(name) is not None}


def _contents(contents: Sequence[Content]) -> list[Any]:
    return [_content(content) for content in contents]


def _content(content: Content) -> JsonObject:
    parts = content.get("parts") or []
    return {**content, "parts": [_part(part) for part in parts if part is not None]}


def _instruction(instruction: Any) -> Any:
    if isinstance(instruction, str):
        return {"role": "user", "parts": [{"text": instruction}]}
    return _content(instruction) if isinstance(instruction, dict) else instruction


def _part(part: Part) -> JsonObject:
    """A part without a thought, which `countTokens` does not accept: a thought becomes text."""
    if not part.get("thought"):
        return dict(part)
    rest: JsonObject = {name: value for name, value in part.items() if name != "thought"}
    if any(name in rest for name in _SENDABLE):
        return rest
    # The flag and not the thought: the published core writes the flag's text.
    thought = "true" if part["thought"] is True else str(part["thought"])
    marked = f"[Thought: {thought}]"
    text = str(rest.get("text") or "")
    return {**rest, "text": f"{text}\n{marked}" if text else marked}
