"""`ModelStep`: one scripted response of a model, read from a cassette.

Source: the cassette format, "Model steps".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from services.model.errors import ApiError, NetworkError
from services.model.generator import LlmRole
from services.model.replay.response_shape import ResponseShapeError, check_response, kind_in_words
from services.wire import Json, JsonObject, js_json

__all__ = [
    "MAX_DELAY_MS",
    "MAX_STEPS",
    "ErrorSpec",
    "Hang",
    "ModelStep",
    "Sleep",
    "StepFormatError",
    "StepKind",
    "StepMethod",
    "parse_step",
    "parse_steps",
    "text_response",
]

MAX_STEPS: Final = 10_000
"""The most steps that one script may have, repetitions counted."""

MAX_DELAY_MS: Final = 1_000_000_000_000
"""The longest wait, within the range of dates."""

_THREAD = re.compile(r"main|\d+/\d+(?:/\d+/\d+)*")
_COMMON_KEYS = frozenset({"role", "thread", "method", "repeat", "delay_ms"})
_API_ERROR_KEYS = frozenset({"status", "message", "grpc", "details"})
_NETWORK_ERROR_KEYS = frozenset({"name", "message", "code", "cause"})


class StepFormatError(ValueError):
    """A step that cannot be read. `path` is that of the offending key."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class StepMethod(StrEnum):
    """The method of the model seam that a step answers; the values are the API's names."""

    STREAM = "generateContentStream"
    GENERATE = "generateContent"
    COUNT_TOKENS = "countTokens"
    EMBED = "embedContent"


class StepKind(StrEnum):
    """How a step answers."""

    STREAM = "stream"
    GENERATE = "generate"
    COUNT_TOKENS = "count_tokens"
    ERROR = "error"
    HANG = "hang"


@dataclass(frozen=True, slots=True)
class Hang:
    """In place of a chunk: wait until the request is aborted."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """In place of a chunk: `ms` milliseconds of virtual time pass."""

    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSpec:
    """An error to raise: the API's with a `status`, else the network's."""

    message: str
    status: int | None = None
    grpc: str | None = None
    details: tuple[JsonObject, ...] | None = None
    name: str = "Error"
    code: str | None = None
    cause: JsonObject | None = None

    def to_exception(self) -> ApiError | NetworkError:
        """Make a new exception."""
        if self.status is not None:
            details = None if self.details is None else list(self.details)
            return ApiError.from_parts(self.status, self.message, self.grpc, details)
        return NetworkError(self.message, name=self.name, code=self.code, cause=self.cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """One response. `index` counts from 0 and includes repetitions.

    `chunks` belong to a stream, `value` to the other methods. The call raises `error`, the stream
    raises `then_error` after its chunks. The JSON in a step must be copied before use.
    """

    index: int
    kind: StepKind
    method: StepMethod
    role: LlmRole | None = None
    thread: str | None = None
    delay_ms: float = 0
    chunks: tuple[JsonObject | Hang | Sleep, ...] = ()
    then_error: ErrorSpec | None = None
    value: JsonObject | None = None
    error: ErrorSpec | None = None


def text_response(text: str) -> JsonObject:
    """A whole answer of one text part that finished normally."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]}


def parse_steps(
    items: Json, path: str = "model", *, limit: int = MAX_STEPS
) -> tuple[ModelStep, ...]:
    """Read a list of steps whose macros are expanded; `repeat` is expanded here.

    Raises:
        StepFormatError: a step is malformed, or there are more than `limit`.
    """
    if not isinstance(items, Sequence) or isinstance(items, (str, bytes)):
        raise StepFormatError(path, f"must be a list of steps, not {kind_in_words(items)}")
    steps: list[ModelStep] = []
    for position, item in enumerate(items):
        here = f"{path}[{position}]"
        step = parse_step(item, here, index=len(steps))
        times = _repeat(item, here)
        if len(steps) + times > limit:
            raise StepFormatError(here, f"the script grows beyond {limit:,} steps")
        steps += [replace(step, index=step.index + number) for number in range(times)]
    return tuple(steps)


def parse_step(mapping: Json, path: str, *, index: int = 0) -> ModelStep:
    """Read one step whose macros are expanded; its `repeat` is only checked.

    Raises:
        StepFormatError: with the path of the offending key.
    """
    if not isinstance(mapping, Mapping):
        raise StepFormatError(path, f"a step must be a mapping, not {kind_in_words(mapping)}")
    kinds = [key for key in _KINDS if key in mapping]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "none"
        problem = f"a step has exactly one of {', '.join(_KINDS)}; found {found}"
        raise StepFormatError(path, problem)
    key = kinds[0]
    allowed = {*_COMMON_KEYS, key} | ({"then_error"} if key == "stream" else set())
    for other in mapping:
        if other not in allowed:
            known = ", ".join(sorted(allowed))
            raise StepFormatError(f"{path}.{other}", f"unknown key of a {key} step; known: {known}")
    _repeat(mapping, path)
    fields = _KINDS[key].fields(mapping[key], f"{path}.{key}")
    method = _method(mapping, path, key)
    then_error = None
    if "then_error" in mapping:
        then_error = _error(mapping["then_error"], f"{path}.then_error")
    return ModelStep(
        index=index,
        kind=_KINDS[key].kind,
        method=method,
        role=_role(mapping, path),
        thread=_thread(mapping, path),
        delay_ms=_milliseconds(mapping.get("delay_ms", 0), f"{path}.delay_ms"),
        then_error=then_error,
        **fields,
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """How to read a step's key: its kind, its methods with the default first, and its fields."""

    kind: StepKind
    methods: tuple[StepMethod, ...]
    fields: Callable[[Json, str], Mapping[str, Any]]


def _stream(value: Json, path: str) -> Mapping[str, Any]:
    if not isinstance(value, list):
        raise StepFormatError(path, f"must be a list of chunks, not {kind_in_words(value)}")
    chunks = tuple(_chunk(item, f"{path}[{position}]") for position, item in enumerate(value))
    return {"chunks": chunks}


def _text(value: Json, path: str) -> Mapping[str, Any]:
    if not isinstance(value, str):
        raise StepFormatError(path, f"must be text, not {kind_in_words(value)}")
    return {"chunks": (text_response(value),)}


def _generate(value: Json, path: str) -> Mapping[str, Any]:
    return {"value": _response(value, path)}


def _json(value: Json, _path: str) -> Mapping[str, Any]:
    return {"value": text_response(value if isinstance(value, str) else js_json(value))}


def _count_tokens(value: Json, path: str) -> Mapping[str, Any]:
    total = value.get("totalTokens") if isinstance(value, Mapping) else None
    if not isinstance(total, (int, float)) or isinstance(total, bool):
        raise StepFormatError(path, "must be a mapping with a number totalTokens")
    return {"value": dict(value)}


def _failure(value: Json, path: str) -> Mapping[str, Any]:
    return {"error": _error(value, path)}


def _hang(value: Json, path: str) -> Mapping[str, Any]:
    if value is not True:
        raise StepFormatError(path, f"must be true, not {value!r}")
    return {}


_STREAM: Final = (StepMethod.STREAM,)
_KINDS: Final = {
    "stream": _Kind(StepKind.STREAM, _STREAM, _stream),
    "text": _Kind(StepKind.STREAM, _STREAM, _text),
    "generate": _Kind(StepKind.GENERATE, (StepMethod.GENERATE, StepMethod.EMBED), _generate),
    "json": _Kind(StepKind.GENERATE, (StepMethod.GENERATE,), _json),
    "count_tokens": _Kind(StepKind.COUNT_TOKENS, (StepMethod.COUNT_TOKENS,), _count_tokens),
    "error": _Kind(StepKind.ERROR, tuple(StepMethod), _failure),
    "hang": _Kind(StepKind.HANG, tuple(StepMethod), _hang),
}


def _method(mapping: Mapping[str, Json], path: str, key: str) -> StepMethod:
    methods = _KINDS[key].methods
    method = mapping.get("method", methods[0])
    if method not in methods:
        problem = f"{method!r} does not go with {key}; possible: {', '.join(sorted(methods))}"
        raise StepFormatError(f"{path}.method", problem)
    return StepMethod(method)


def _role(mapping: Mapping[str, Json], path: str) -> LlmRole | None:
    if "role" not in mapping:
        return None
    try:
        return LlmRole(mapping["role"])
    except ValueError:
        known = ", ".join(LlmRole)
        problem = f"{mapping['role']!r} is not a role; known: {known}"
        raise StepFormatError(f"{path}.role", problem) from None


def _thread(mapping: Mapping[str, Json], path: str) -> str | None:
    if "thread" not in mapping:
        return None
    value = mapping["thread"]
    if not isinstance(value, str) or _THREAD.fullmatch(value) is None:
        problem = f"{value!r} is neither `main` nor the path of a call such as `0/1`"
        raise StepFormatError(f"{path}.thread", problem)
    return value


def _repeat(mapping: Mapping[str, Json], path: str) -> int:
    value = mapping.get("repeat", 1)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise StepFormatError(f"{path}.repeat", f"must be a whole number from 1, not {value!r}")
    return value


def _milliseconds(value: Json, path: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value < 0:
        raise StepFormatError(path, f"must be milliseconds, 0 or more, not {value!r}")
    if value > MAX_DELAY_MS:
        raise StepFormatError(path, f"is longer than {MAX_DELAY_MS:,} ms, thirty years")
    return value


def _chunk(value: Json, path: str) -> JsonObject | Hang | Sleep:
    if isinstance(value, Mapping) and len(value) == 1:
        if "$hang" in value:
            if value["$hang"] is not True:
                raise StepFormatError(f"{path}.$hang", f"must be true, not {value['$hang']!r}")
            return Hang()
        if "$sleep" in value:
            return Sleep(_milliseconds(value["$sleep"], f"{path}.$sleep"))
    return _response(value, path)


def _response(value: Json, path: str) -> JsonObject:
    try:
        return check_response(value, path)
    except ResponseShapeError as error:
        raise StepFormatError(error.path, error.problem) from error


def _list_of(value: JsonObject, key: str, path: str) -> list[JsonObject]:
    items = value.get(key)
    if items is None:
        return []
    if not isinstance(items, list):
        raise StepFormatError(f"{path}.{key}", f"must be a list, not {kind_in_words(items)}")
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            problem = f"must be a mapping, not {kind_in_words(item)}"
            raise StepFormatError(f"{path}.{key}[{position}]", problem)
    return items


def _error(value: Json, path: str) -> ErrorSpec:
    if not isinstance(value, Mapping):
        raise StepFormatError(path, f"must be a mapping, not {kind_in_words(value)}")
    allowed = _API_ERROR_KEYS if "status" in value else _NETWORK_ERROR_KEYS
    for key in value:
        if key not in allowed:
            problem = (
                "unknown key of an error; the API's has status, message, grpc, details, "
                "the network's name, message, code, cause"
            )
            raise StepFormatError(f"{path}.{key}", problem)
    for key in ("message", "grpc", "name", "code"):
        if not isinstance(value.get(key, ""), str):
            raise StepFormatError(f"{path}.{key}", f"must be text, not {kind_in_words(value[key])}")
    if "message" not in value:
        raise StepFormatError(f"{path}.message", "is missing")
    status = value.get("status")
    if "status" in value and (
        not isinstance(status, int) or isinstance(status, bool) or not 100 <= status <= 599
    ):
        raise StepFormatError(f"{path}.status", f"must be an HTTP status, not {status!r}")
    details = _list_of(dict(value), "details", path) if value.get("details") is not None else None
    cause = value.get("cause")
    if cause is not None and not isinstance(cause, dict):
        raise StepFormatError(f"{path}.cause", f"must be a mapping, not {kind_in_words(cause)}")
    return ErrorSpec(
        message=value["message"],
        status=status,
        grpc=value.get("grpc"),
        details=None if details is None else tuple(details),
        name=value.get("name", "Error"),
        code=value.get("code"),
        cause=cause,
    )
