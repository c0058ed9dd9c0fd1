"""Converts model requests and responses to the simple form for hooks, and back.

Hooks see texts only. A hook's changes are merged into the request, so that calls, their results and
media stay where they were.

Source: core `hooks/hookTranslator.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.hooks.values import listed, mapping, member
from services.model.parts import response_text
from services.wire import Content, Json, JsonObject, Part, js_text, js_truthy

__all__ = [
    "HookModelRequest",
    "changed_config",
    "changed_contents",
    "changed_model",
    "request_for_hooks",
    "response_for_hooks",
    "response_from_hook",
]

_CONFIG: Final = ("temperature", "maxOutputTokens", "topP", "topK")
_USAGE: Final = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
_UNKNOWN: Final = "unknown"
"""In place of a finish reason that is no text: no client knows it, either."""
_MOST: Final = 2**53
"""Python does not write out whole numbers of some thousand digits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class HookModelRequest:
    """A request to a model, before or after it is sent. Two are never equal: one per attempt.

    `config` and `contents` are the API's JSON. They are not changed afterwards.
    """

    model: str
    config: Mapping[str, Json]
    contents: Sequence[Content]


def request_for_hooks(request: HookModelRequest) -> JsonObject:
    """`{model, messages: [{role, content}], config}`; contents without a text have no message."""
    messages: list[JsonObject] = []
    for content in request.contents:
        text = "".join(_texts(content.get("parts")))
        if text:
            role = content.get("role")
            role = role if role in ("model", "system") else "user"
            messages.append({"role": role, "content": text})
    return {
        "model": request.model,
        "messages": messages,
        "config": _some(request.config, _CONFIG),
    }


def changed_model(said: Json, request: HookModelRequest) -> str:
    """The model after a hook's `llm_request`; an invalid name changes nothing."""
    model = mapping(said).get("model")
    return model if isinstance(model, str) and model else request.model


def changed_config(said: Json, request: HookModelRequest) -> JsonObject:
    """The config after a hook's `llm_request`: of its four fields, those left out are cleared."""
    config = dict(request.config)
    given: Json = mapping(said).get("config")
    if not js_truthy(given):
        return config
    for key in _CONFIG:
        if key in mapping(given):
            config[key] = given[key]
        else:
            config.pop(key, None)
    return config


def changed_contents(said: Json, request: HookModelRequest) -> Sequence[Content]:
    """The contents after a hook's `llm_request`.

    Its messages go, in order, to the contents that have a text part; the text comes first there,
    other parts stay. Surplus messages become contents, missing ones change nothing.

    Raises:
        HookOutputError: a message is null.
    """
    given = mapping(said).get("messages")
    if not given:
        return request.contents
    messages = iter(given if isinstance(given, (list, str)) else ())
    merged: list[Content] = []
    for content in request.contents:
        parts = content.get("parts") or []
        message = next(messages, _NONE_LEFT) if any(map(_has_text, parts)) else _NONE_LEFT
        if message is _NONE_LEFT:
            merged.append({**content, "parts": parts})
            continue
        said_content = _content(message)
        merged.append(
            {
                **{key: value for key, value in content.items() if key != "role"},
                **said_content,
                "parts": [*said_content["parts"], *(p for p in parts if not _has_text(p))],
            }
        )
    merged.extend(_content(message) for message in messages)
    return merged


_NONE_LEFT: Final = object()


def _content(message: Json) -> Content:
    role = member(message, "role")
    known = mapping(message)
    text = js_text(known["content"]) if "content" in known else "undefined"
    parts = [{"text": text}]
    return {"role": role, "parts": parts} if "role" in known else {"parts": parts}


def response_for_hooks(response: Mapping[str, Json]) -> JsonObject:
    """`{text?, candidates, usageMetadata?}` of a response or of one chunk."""
    shown: JsonObject = {}
    text = response_text(response)
    if text is not None:
        shown["text"] = text
    shown["candidates"] = [_candidate(each) for each in response.get("candidates") or ()]
    usage = response.get("usageMetadata")
    if usage is not None:
        shown["usageMetadata"] = _some(usage, _USAGE)
    return shown


def _candidate(candidate: JsonObject) -> JsonObject:
    parts = (candidate.get("content") or {}).get("parts")
    shown = {
        "content": {"role": "model", "parts": list(_texts(parts))},
        **_some(candidate, ("finishReason", "index")),
    }
    ratings = candidate.get("safetyRatings")
    if ratings is not None:
        shown["safetyRatings"] = [
            {key: js_text(rating.get(key) or "") for key in ("category", "probability")}
            for rating in ratings
        ]
    return shown


def response_from_hook(said: Json) -> JsonObject:
    """A hook's `llm_response` as the API's JSON: texts only, so it can call no function.

    Raises:
        HookOutputError: it has no candidates, or one without a list of parts.
    """
    response = mapping(said)
    candidates: list[JsonObject] = []
    for candidate in listed(response.get("candidates"), "candidates"):
        parts = listed(member(member(candidate, "content"), "parts"), "parts")
        candidates.append(
            {
                "content": {"role": "model", "parts": list(map(_part_of, parts))},
                **_finish_reason(mapping(candidate).get("finishReason")),
            }
        )
    return {"candidates": candidates, **_usage(response.get("usageMetadata"))}


def _finish_reason(said: Json) -> JsonObject:
    if not js_truthy(said):
        return {}
    return {"finishReason": said if isinstance(said, str) else _UNKNOWN}


def _usage(said: Json) -> JsonObject:
    """A hook's token counts; those that are no numbers are left out."""
    if not js_truthy(said):
        return {}
    counts = {key: count for key, count in mapping(said).items() if _is_count(count)}
    return {"usageMetadata": counts}


def _is_count(value: Json) -> bool:
    return type(value) in (int, float) and abs(value) <= _MOST


def _part_of(said: Json) -> Part:
    """A text part; another value is converted to text as in JavaScript."""
    return {"text": said if isinstance(said, str) else js_text(said) if js_truthy(said) else None}


def _texts(parts: Sequence[Part] | None) -> Iterable[str]:
    return (part["text"] for part in parts or () if _has_text(part))


def _has_text(part: Part) -> bool:
    """Thoughts and empty texts count."""
    return isinstance(part.get("text"), str)


def _some(values: Mapping[str, Json], keys: Iterable[str]) -> JsonObject:
    return {key: values[key] for key in keys if key in values}
