"""Reads `http`: what the HTTP addresses of a run answer.

The section is an addition to the cassette format, version 1; `cassettes/README.md` describes it.
"""

from __future__ import annotations

import re
from typing import Final

from harness.cassette.fields import Fields, text_of, whole_of
from harness.cassette.format import HttpAnswer, HttpStep
from harness.cassette.problems import FormatProblem, kind_of
from services.wire import Json, JsonObject

__all__ = ["read_http"]

_METHODS: Final = ("get", "post")
_KEYS: Final = (
    *_METHODS,
    "rpc",
    "sent",
    "status",
    "headers",
    "repeat",
    "optional",
    *(answer.value for answer in HttpAnswer),
)
_ANSWERS: Final = ", ".join(answer.value for answer in HttpAnswer)
_OF_RPC: Final = frozenset({HttpAnswer.RESULT, HttpAnswer.ERROR})
_MARKERS: Final = ("$raw", "$error", "$hang", "$cut")
"""The keys of the pieces of a stream that are not an event's data."""
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET: Final = re.compile(r"/[!-~]*")


def read_http(items: list[Json]) -> tuple[HttpStep, ...]:
    """Read the section, with `repeat` expanded; the loader has checked how long it becomes.

    Raises:
        FormatProblem: with the place of the key.
    """
    steps: list[HttpStep] = []
    for position, item in enumerate(items):
        here = f"http[{position}]"
        fields = Fields(item, here, _KEYS)
        times = whole_of(fields.raw("repeat", 1), fields.at("repeat"), least=1)
        steps += [_read_step(fields, position)] * times
    return tuple(steps)


def _read_step(fields: Fields, position: int) -> HttpStep:
    methods = [method for method in _METHODS if method in fields]
    if len(methods) != 1:
        problem = f"has {' and '.join(methods) or 'no address'}"
        raise FormatProblem(fields.path, problem, "write `get: /path` or `post: /path`")
    answers = [answer for answer in HttpAnswer if answer in fields]
    if len(answers) != 1:
        found = " and ".join(answers) or "none"
        problem = f"has exactly one of {_ANSWERS}; found {found}"
        raise FormatProblem(fields.path, problem, "write one answer for each step")
    (method,), (answer,) = methods, answers
    rpc = fields.optional_text("rpc")
    if answer in _OF_RPC and rpc is None:
        problem = "answers a call of JSON-RPC, and the step names no method"
        raise FormatProblem(fields.at(answer), problem, "add `rpc: message/send`, or write `json`")
    return HttpStep(
        place=f"http[{position}]",
        method=method.upper(),
        target=_target(fields, method),
        rpc=rpc,
        sent={name.lower(): value for name, value in _headers(fields, "sent").items()},
        status=_status(fields),
        headers=_headers(fields, "headers"),
        answer=answer,
        value=_value(fields, answer, rpc),
        optional=fields.flag("optional"),
    )


def _target(fields: Fields, method: str) -> str:
    target = fields.text(method)
    if _TARGET.fullmatch(target) is None:
        mend = "write it from its first slash, without the host: /rpc or /card?v=1"
        raise FormatProblem(fields.at(method), f"{target!r} is not the path of an address", mend)
    return target


def _status(fields: Fields) -> int:
    status = whole_of(fields.raw("status", 200), fields.at("status"), least=200)
    if status > 599:
        raise FormatProblem(fields.at("status"), f"{status} is no status", "write 200 to 599")
    return status


def _headers(fields: Fields, key: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.mapping(key).items():
        here = f"{fields.at(key)}.{name}"
        text = text_of(value, here)
        if _NAME.fullmatch(name) is None or not (text.isascii() and text.isprintable()):
            raise FormatProblem(here, "is not a header", "write `name: value` in plain ASCII")
        found[name] = text
    return found


def _value(fields: Fields, answer: HttpAnswer, rpc: str | None) -> Json:
    if answer is HttpAnswer.TEXT:
        return fields.text(answer)
    if answer in (HttpAnswer.HANG, HttpAnswer.CUT):
        if fields.flag(answer):
            return True
        raise FormatProblem(fields.at(answer), "must be true", "write true, or another answer")
    if answer is HttpAnswer.ERROR:
        return fields.mapping(answer)
    if answer is HttpAnswer.STREAM:
        pieces = fields.items(answer)
        for number, piece in enumerate(pieces):
            _check_piece(piece, f"{fields.at(answer)}[{number}]", rpc)
    return fields.raw(answer)


def _check_piece(piece: Json, path: str, rpc: str | None) -> None:
    if not isinstance(piece, dict):
        problem = f"must be a mapping, not {kind_of(piece)}"
        raise FormatProblem(path, problem, "write an event's data, or {$raw: text}")
    marker = next((key for key in piece if key.startswith("$")), None)
    if marker is None:
        return
    value: JsonObject = piece
    Fields(value, path, (marker,) if marker in _MARKERS else _MARKERS)
    if marker == "$raw":
        text_of(value[marker], f"{path}.$raw")
    elif marker == "$error":
        if rpc is None or not isinstance(value[marker], dict):
            problem = "is a JSON-RPC error in a step with `rpc`"
            raise FormatProblem(f"{path}.$error", problem, "write {code: …, message: …}")
    elif value[marker] is not True:
        raise FormatProblem(f"{path}.{marker}", "must be true", "write true")
