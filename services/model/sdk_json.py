"""Converts between the API's JSON and the SDK's models.

The SDK's models forbid unknown fields, have bytes where the JSON has base64, and write base64 in
the URL alphabet. This module reads both alphabets and writes the standard one, as the API does. A
signature that is not base64 is left out; the API would refuse it as well.

Source: the API's JSON mapping (protocol buffers, `bytes`); google-genai `_common.BaseModel`.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from services.model.errors import ApiError
from services.wire import Content, Json, JsonObject, Part

__all__ = [
    "bytes_of",
    "changed_json",
    "content_with_bytes",
    "dumped",
    "fields_json",
    "parse_leniently",
    "plain_json",
    "typed",
]

_LOG = logging.getLogger(__name__)
_STANDARD = str.maketrans("-_", "+/")

M = TypeVar("M", bound=BaseModel)

_REFUSALS: Final = (ValidationError, AttributeError, TypeError)
"""The errors of google-genai for a wrong value; its enumerations fail for one that is no text."""


def bytes_of(text: str) -> bytes | None:
    """Decode base64 of either alphabet, padded or not; None for other text."""
    standard = text.translate(_STANDARD).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def content_with_bytes(content: Content) -> Content:
    """Return a shallow copy of `content` with signatures and inline data decoded."""
    parts = content.get("parts")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return content
    return {**content, "parts": [_part_with_bytes(part) for part in parts]}


def _part_with_bytes(part: Part) -> Part:
    decoded = dict(part)
    if "thoughtSignature" in part:
        _decode_field(decoded, "thoughtSignature")
    if isinstance(part.get("inlineData"), Mapping):
        decoded["inlineData"] = dict(part["inlineData"])
        _decode_field(decoded["inlineData"], "data")
    response = part.get("functionResponse")
    if isinstance(response, Mapping) and response.get("parts"):
        nested = [_part_with_bytes(item) for item in response["parts"]]
        decoded["functionResponse"] = {**response, "parts": nested}
    return decoded


def _decode_field(owner: dict[str, Any], key: str) -> None:
    text = owner.get(key)
    if not isinstance(text, str):
        return
    decoded = bytes_of(text)
    if decoded is None:
        _LOG.debug("left out %s: not base64", key)
        del owner[key]
    else:
        owner[key] = decoded


def parse_leniently(kind: type[M], value: Mapping[str, Json]) -> M:
    """Validate `value` as `kind`, without unknown fields.

    Raises:
        ApiError: 400, as the API's, for a known field of a wrong type.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        unknown = [item["loc"] for item in error.errors() if item["type"] == "extra_forbidden"]
    for location in unknown:
        _LOG.debug("left out %s: unknown to %s", ".".join(map(str, location)), kind.__name__)
    try:
        return kind.model_validate(_without(value, unknown))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        message = f"Invalid value at '{where}': {first['msg']}"
        raise ApiError.from_parts(400, message, "INVALID_ARGUMENT") from error


def _without(value: Json, locations: Sequence[tuple[int | str, ...]]) -> Json:
    """Return a copy of `value` without the values at `locations`."""
    if not locations:
        return value
    if isinstance(value, Mapping):
        gone = {location[0] for location in locations if len(location) == 1}
        return {
            key: _without(item, _below(locations, key))
            for key, item in value.items()
            if key not in gone
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        # A location in a union lacks the list's index: search every item.
        named = any(isinstance(location[0], int) for location in locations)
        return [
            _without(item, _below(locations, index) if named else locations)
            for index, item in enumerate(value)
        ]
    return value


def _below(
    locations: Sequence[tuple[int | str, ...]], key: int | str
) -> list[tuple[int | str, ...]]:
    return [rest[1:] for rest in locations if len(rest) > 1 and rest[0] == key]


def plain_json(value: Any) -> Json:
    """Convert a dumped model: bytes to standard base64, enums to their values."""
    if isinstance(value, dict):
        return {key: plain_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value


def dumped(model: BaseModel, *, exclude: set[str] | None = None) -> JsonObject:
    """Return `model` as the API's camelCase JSON without unset fields."""
    raw = model.model_dump(mode="python", exclude_none=True, by_alias=True, exclude=exclude)
    answer: JsonObject = plain_json(raw)
    return answer


def fields_json(kind: type[BaseModel], fields: Mapping[str, Any], where: str) -> JsonObject:
    """Return `fields` of a `kind`, by their Python names, as the API's JSON, with each `None`.

    Raises:
        ValueError: a value has a wrong type; the message names it as a field of `where`.
    """
    if not fields:
        return {}
    try:
        found = dumped(kind(**fields))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, (where, *first["loc"])))
        raise ValueError(f"{place} cannot be sent: {first['msg']}") from error
    aliases = [kind.model_fields[name].alias or name for name in fields]
    return {alias: found.get(alias) for alias in aliases}


def changed_json(wire: JsonObject, made: JsonObject, now: JsonObject) -> JsonObject:
    """Return `wire` with the changes from `made`, its typed form, to `now`, the edited form."""
    changed = dict(wire)
    for key in {**made, **now}:
        if key not in now:
            changed.pop(key, None)
        elif now[key] != made.get(key):
            nested = isinstance(wire.get(key), dict) and isinstance(now[key], dict)
            changed[key] = {**wire[key], **now[key]} if nested else now[key]
    return changed


_EMPTY: Final[dict[type[BaseModel], dict[str, Any]]] = {}
"""The fields of an empty model, by class."""


def unchecked(kind: type[M], fields: Mapping[str, Any]) -> M:
    """Make a `kind` without validation, which would take eight times as long."""
    made = kind.__new__(kind)
    empty = _EMPTY.get(kind)
    if empty is None:
        empty = _EMPTY[kind] = kind.model_construct().__dict__
    object.__setattr__(made, "__dict__", {**empty, **fields})
    object.__setattr__(made, "__pydantic_fields_set__", set(fields))
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


def typed(kind: type[M], fields: Mapping[str, Any]) -> M:
    """Make a `kind` of those `fields` that its types accept.

    A caller that uses the JSON itself must not fail at a wrong field of a server, script or hook.
    """
    try:
        return kind(**fields)
    except _REFUSALS:
        return kind(**{name: value for name, value in fields.items() if _takes(kind, name, value)})


def _takes(kind: type[BaseModel], name: str, value: Any) -> bool:
    try:
        kind(**{name: value})
    except _REFUSALS:
        return False
    return True
