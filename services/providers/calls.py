"""Names and ids of function calls, within the limits of other providers.

The Gemini API allows more characters in a name, and calls without an id. A name or id that a
provider would refuse is replaced by one that depends only on itself, so a call and its result keep
the same one in every request.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from services.providers.shape import mapping
from services.wire import Content, Json, JsonObject, Part

__all__ = ["own_names", "results_named", "wire_id", "wire_name", "with_ids"]

_CONFORMING: Final = re.compile(r"[A-Za-z0-9_-]+")
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS: Final = 8
MOST_NAME: Final = 64
"""Characters of a function's name, in OpenAI's API; Anthropic's allows more."""
MOST_ID: Final = 40
"""Characters of a call's id, in OpenAI's API."""


def wire_name(name: str) -> str:
    """Return `name` as other providers accept it."""
    return _within(name, MOST_NAME)


def wire_id(call_id: str) -> str:
    """Return a call's id as other providers accept it."""
    return _within(call_id, MOST_ID)


def _within(word: str, most: int) -> str:
    if not word or (len(word) <= most and _CONFORMING.fullmatch(word)):
        return word
    digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    kept = _OTHER.sub("_", word)[: most - _DIGITS - 1]
    return f"{kept}_{digest}"


def own_names(declared: Iterable[JsonObject]) -> Mapping[str, str]:
    """Return the changed names of declared functions: the provider's name → the declared one."""
    names = (str(each.get("name") or "") for each in declared)
    return {wire_name(name): name for name in names if wire_name(name) != name}


def with_ids(contents: Sequence[Content]) -> Sequence[Content]:
    """Return `contents` with an id in every function call and response.

    A call without one gets `call_TURN_PART`, both counted from 0. A response without one gets that
    of the first unanswered call of its name.
    """
    waiting: dict[str, list[str]] = {}
    found = [
        {**content, "parts": [_with_id(part, turn, at, waiting) for at, part in _parts(content)]}
        if any(_lacks_id(part) for _, part in _parts(content))
        else _noted(content, waiting)
        for turn, content in enumerate(contents)
    ]
    unchanged = all(new is old for new, old in zip(found, contents, strict=True))
    return contents if unchanged else found


def _parts(content: Content) -> list[tuple[int, Part]]:
    parts = content.get("parts")
    return list(enumerate(parts)) if isinstance(parts, list) else []


def _kind(part: Part) -> str | None:
    return next((key for key in ("functionCall", "functionResponse") if part.get(key)), None)


def _lacks_id(part: Part) -> bool:
    kind = _kind(part)
    return kind is not None and not mapping(part[kind]).get("id")


def _noted(content: Content, waiting: dict[str, list[str]]) -> Content:
    for at, part in _parts(content):
        _with_id(part, 0, at, waiting)
    return content


def _with_id(part: Part, turn: int, at: int, waiting: dict[str, list[str]]) -> Part:
    kind = _kind(part)
    if kind is None:
        return part
    call = mapping(part[kind])
    name, call_id = str(call.get("name") or ""), call.get("id")
    unanswered = waiting.setdefault(name, [])
    if kind == "functionResponse":
        if call_id in unanswered:
            unanswered.remove(call_id)
        elif not call_id and unanswered:
            call_id = unanswered.pop(0)
    call_id = call_id or f"call_{turn}_{at}"
    if kind == "functionCall":
        unanswered.append(call_id)
    return part if call.get("id") == call_id else {**part, kind: {**call, "id": call_id}}


def results_named(contents: Sequence[Content]) -> list[Content]:
    """Return `contents` in which each result has the name of the call before it with its id.

    The last such call counts; without any the name is empty.
    """
    known: dict[str, str] = {}

    def named(part: Part) -> Part:
        call, result = mapping(part.get("functionCall")), mapping(part.get("functionResponse"))
        if call:
            known[_text(call.get("id"))] = _text(call.get("name"))
        if not result:
            return part
        return {"functionResponse": {**result, "name": known.get(_text(result.get("id")), "")}}

    return [
        {**content, "parts": [named(part) for _, part in _parts(content)]} for content in contents
    ]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
