"""What google-genai sends for a request of a runtime: URL, headers, deadlines and body.

Two runs are compared by the requests of the runtimes, not by what the client makes of them. A
replayed recording therefore compares each HTTP request with the request that the runtime made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

import httpx
from pydantic.alias_generators import to_camel

from harness.parity.diff import differences
from services.model.generator import ModelRequest
from services.model.replay.steps import StepMethod
from services.wire import Json, JsonObject

__all__ = ["CALLS", "sent_otherwise"]

CALLS: Final = {
    StepMethod.GENERATE: "generateContent",
    StepMethod.STREAM: "streamGenerateContent?alt=sse",
    StepMethod.COUNT_TOKENS: "countTokens",
}
"""The end of the URL of each call."""
_DEADLINES: Final = {"connect": 10.0, "pool": 10.0, "read": 300.0, "write": 300.0}
"""The deadlines of the published core's client, undici, in seconds."""
_BESIDE: Final = ("systemInstruction", "tools", "toolConfig", "safetySettings", "cachedContent")
"""The fields of a configuration that the API has beside `generationConfig`."""
_URL_ALPHABET: Final = str.maketrans("-_", "+/")
_OF_OTHERS: Final = frozenset(
    {"args", "response", "parametersJsonSchema", "responseJsonSchema", "responseSchema"}
)
"""The fields whose keys are those of a tool or a caller."""
_ENCODED: Final = frozenset({"thoughtSignature", "data"})


def sent_otherwise(
    asked: ModelRequest,
    method: StepMethod,
    sent: httpx.Request,
    base: str,
    headers: Mapping[str, str],
) -> Iterator[str]:
    """Yield what differs between a request of a runtime and the HTTP request for it, as texts.

    `base` is the URL without the API's version, `headers` are some that must be there. The
    body may differ in what the client always changes: some fields are in snake case, numbers are
    floats, and base64 is in the URL alphabet. It sends an instruction that is a text as a content.
    """
    url = f"{base}/v1beta/models/{asked.model}:{CALLS[method]}"
    if str(sent.url) != url:
        yield f"the URL is {sent.url} instead of {url}"
    for name, value in headers.items():
        if sent.headers.get(name) != value:
            yield f"the header {name} is {sent.headers.get(name)!r} instead of {value!r}"
    deadlines = sent.extensions.get("timeout")
    if deadlines != _DEADLINES:
        yield f"the deadlines are {deadlines} instead of {_DEADLINES}"
    here, there = _standard(_body(asked, method)), _standard(json.loads(sent.content))
    if here != there:
        for found in differences(here, there):
            yield f"{found.path} is {found.candidate!r} instead of {found.control!r}"


def _body(asked: ModelRequest, method: StepMethod) -> JsonObject:
    """The body in the API's own form, or in a part of it for a count."""
    body: JsonObject = {"contents": list(asked.contents)}
    if method is StepMethod.COUNT_TOKENS:
        return body
    beside = {name: asked.config[name] for name in _BESIDE if asked.config.get(name)}
    instruction = beside.get("systemInstruction")
    if isinstance(instruction, str):
        beside["systemInstruction"] = {"parts": [{"text": instruction}], "role": "user"}
    settings = {name: value for name, value in asked.config.items() if name not in _BESIDE}
    return {**body, **beside, "generationConfig": settings}


def _standard(value: Json, name: str = "") -> Json:
    """`value`, which is under `name`, in the API's own spelling."""
    if name in _OF_OTHERS:
        return value
    if isinstance(value, dict):
        named = ((to_camel(key), item) for key, item in value.items())
        return {key: _standard(item, key) for key, item in named}
    if isinstance(value, list):
        return [_standard(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.translate(_URL_ALPHABET) if name in _ENCODED and isinstance(value, str) else value
