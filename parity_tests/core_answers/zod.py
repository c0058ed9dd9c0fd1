"""Shapes of Zod, built from descriptions."""

from __future__ import annotations

import tomllib
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.wire import js_json, js_json_pretty, js_length
from services.zod import UNDEFINED, ZOD3, ZOD3_TOML, ZOD4, Issue, Shape, Zod

__all__ = ["SUBJECTS"]


def _built(zod: Zod, described: list[Any]) -> Shape:
    kind, *rest = described

    def fields(shapes: dict[str, Any]) -> dict[str, Shape]:
        return {key: _built(zod, each) for key, each in shapes.items()}

    if kind in ("mapping", "strict", "loose"):
        return zod.mapping(fields(rest[0]), strict=kind == "strict", loose=kind == "loose")
    if kind == "discriminated":
        return zod.discriminated(rest[0], fields(rest[1]))
    if kind in ("optional", "array", "record"):
        shape: Shape = getattr(zod, kind)(_built(zod, rest[0]))
        return shape
    if kind == "default":
        return zod.default(_built(zod, rest[0]), rest[1])
    if kind == "union":
        return zod.union(*(_built(zod, each) for each in rest))
    if kind == "text" and rest:
        return zod.text(
            (lambda value: js_length(value) >= rest[0], "too short"),
            (lambda value: js_length(value) <= rest[1], "too long"),
        )
    if kind == "number" and rest:
        return zod.number((lambda value: value >= rest[0], "too small"))
    if kind == "custom":
        return zod.custom(lambda value: bool(value == rest[0]), "not it")
    names = {"object": "any_object", "any": "anything"}
    made: Shape = getattr(zod, names.get(kind, kind))(*rest)
    return made


def _shown(issue: Issue) -> list[list[Any]]:
    kept = issue.to_json()
    if issue.branches:
        kept["branches"] = [[_shown(each) for each in branch] for branch in issue.branches]
    return [[key, value] for key, value in kept.items()]


def _checked(zod: Zod, asked: dict[str, Any]) -> tuple[Any, list[Issue]]:
    issues: list[Issue] = []
    passed = _built(zod, asked["shape"])(asked.get("value", UNDEFINED), (), issues)
    return passed, issues


def _passed(value: Any) -> dict[str, str]:
    return {"passed": "undefined" if value is UNDEFINED else js_json(value)}


def _zod3(asked: dict[str, Any]) -> dict[str, Any]:
    passed, issues = _checked(ZOD3, asked)
    return {"issues": [_shown(each) for each in issues]} if issues else _passed(passed)


def _toml(asked: dict[str, Any]) -> dict[str, Any]:
    """The value `v` of a text in TOML; what passes is not shown, as it may be no JSON."""
    value = tomllib.loads(asked["text"])["v"]
    _, issues = _checked(ZOD3_TOML, {"shape": asked["shape"], "value": value})
    return {"issues": [_kept(each) for each in issues]} if issues else {"passed": True}


def _kept(issue: Issue) -> Any:
    """An issue without the value that it received, which may be no JSON."""
    shown = _shown(issue)
    return [[key, value] for key, value in shown if key not in ("received", "branches")]


def _zod4(asked: dict[str, Any]) -> dict[str, Any]:
    passed, issues = _checked(ZOD4, asked)
    if not issues:
        return _passed(passed)
    return {"issues": js_json_pretty([each.to_json() for each in issues])}


SUBJECTS: Final = (
    Subject("zod.zod3", _zod3),
    Subject("zod.zod4", _zod4),
    Subject("zod.toml", _toml),
)
