"""Checks the parts of a response's shape that readers rely on.

The SDK's types check the API's responses; this module checks those of scripts. Fields without a
reader are not checked.

Source: the API's `GenerateContentResponse`; JSON null stands for a field that is absent.
"""

from __future__ import annotations

from typing import Final, NoReturn

from services.wire import Json, JsonObject

__all__ = ["ResponseShapeError", "check_response", "kind_in_words"]

_MOST: Final = 2**53
"""JSON readers represent whole numbers exactly up to here."""

_TEXT: Final = "text"
_NUMBER: Final = "a number"
_WHOLE: Final = "a whole number"
_BLOB: Final = {"mimeType": _TEXT, "data": _TEXT}
_PART: Final[JsonObject] = {
    "text": _TEXT,
    "thoughtSignature": _TEXT,
    "functionCall": {"id": _TEXT, "name": _TEXT, "args": {}},
    "functionResponse": {"id": _TEXT, "name": _TEXT, "parts": [{"inlineData": _BLOB}]},
    "inlineData": _BLOB,
    "fileData": {"mimeType": _TEXT, "fileUri": _TEXT},
}
_SUPPORT: Final[JsonObject] = {
    "segment": {"startIndex": _WHOLE, "endIndex": _WHOLE},
    "groundingChunkIndices": [_WHOLE],
}
_USAGE: Final = dict.fromkeys(
    (
        "promptTokenCount",
        "candidatesTokenCount",
        "totalTokenCount",
        "cachedContentTokenCount",
        "thoughtsTokenCount",
        "toolUsePromptTokenCount",
    ),
    _NUMBER,
)
_CANDIDATE: Final[JsonObject] = {
    "content": {"parts": [_PART]},
    "finishReason": _TEXT,
    "safetyRatings": [{}],
    "citationMetadata": {"citations": [{"title": _TEXT, "uri": _TEXT}]},
    "groundingMetadata": {
        "groundingChunks": [{"web": {"title": _TEXT, "uri": _TEXT}}],
        "groundingSupports": [_SUPPORT],
    },
}
_RESPONSE: Final[JsonObject] = {
    "candidates": [_CANDIDATE],
    "usageMetadata": _USAGE,
    "modelVersion": _TEXT,
    "responseId": _TEXT,
    "totalTokens": _NUMBER,
}
"""A mapping has the shape of each field, a list the shape of its items."""


class ResponseShapeError(ValueError):
    """A value in a response has a wrong type. `path` is that of its key."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


def check_response(value: Json, path: str) -> JsonObject:
    """Return `value`, a response or one chunk of a stream.

    Args:
        value: JSON.
        path: The response's place, for the error.

    Raises:
        ResponseShapeError: `value`, or a value in it, has a wrong type.
    """
    if not isinstance(value, dict):
        raise ResponseShapeError(path, f"a response must be a mapping, not {kind_in_words(value)}")
    _check(value, _RESPONSE, path)
    return value


def kind_in_words(value: Json) -> str:
    """Describe `value` in an error: containers and text by kind, other values as they are."""
    names = {dict: "a mapping", list: "a list", str: "text", type(None): "nothing"}
    return names.get(type(value)) or _shortened(value)


def _shortened(value: Json) -> str:
    # Python refuses to write out a whole number of some thousand digits.
    if isinstance(value, int) and abs(value) > _MOST:
        return "a number of many digits"
    return repr(value)


def _check(value: Json, shape: Json, path: str) -> None:
    if isinstance(shape, dict):
        _check_mapping(value, shape, path)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            _refuse(value, "a list", path)
        for position, item in enumerate(value):
            _check(item, shape[0], f"{path}[{position}]")
    elif shape is _TEXT:
        if not isinstance(value, str):
            _refuse(value, _TEXT, path)
    else:
        _check_number(value, shape, path)


def _check_mapping(value: Json, shape: JsonObject, path: str) -> None:
    if not isinstance(value, dict):
        _refuse(value, "a mapping", path)
    for key, inner in shape.items():
        item = value.get(key)
        if item is not None:
            _check(item, inner, f"{path}.{key}")


def _check_number(value: Json, kind: str, path: str) -> None:
    allowed = int if kind is _WHOLE else (int, float)
    if not isinstance(value, allowed) or isinstance(value, bool):
        _refuse(value, kind, path)
    if not -_MOST <= value <= _MOST:
        raise ResponseShapeError(path, f"must be a number from -{_MOST:,} to {_MOST:,}")


def _refuse(value: Json, kind: str, path: str) -> NoReturn:
    raise ResponseShapeError(path, f"must be {kind}, not {kind_in_words(value)}")
