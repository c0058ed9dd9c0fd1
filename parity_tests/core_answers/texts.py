"""Texts and values: what several tools do with them, and the check of arguments."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.mcp.tool_schemas import judging_schema
from services.tools.js_regex import JsRegexError, compile_js
from services.tools.schema import ParameterSchema
from services.tools.texts import (
    detect_line_ending,
    js_fixed,
    omission_placeholders,
    strip_ansi,
    truncate_text,
    wrap_untrusted,
)

__all__ = ["SUBJECTS"]


def _plain(text: str) -> list[Any]:
    return [
        detect_line_ending(text),
        wrap_untrusted(text),
        strip_ansi(text),
        omission_placeholders(text),
    ]


def _fault(asked: list[Any]) -> str | None:
    schema, value = asked
    return ParameterSchema(judging_schema(schema)).fault(value)


def _matches(asked: list[Any]) -> Any:
    pattern, ignore_case, texts = asked
    try:
        compiled = compile_js(pattern, ignore_case=ignore_case)
    except JsRegexError as error:
        return str(error)
    return [compiled.search(text) is not None for text in texts]


SUBJECTS: Final = (
    Subject("texts.fault", _fault),
    Subject("texts.fixed", lambda asked: js_fixed(*asked)),
    Subject("texts.matches", _matches),
    Subject("texts.plain", _plain),
    Subject("texts.truncated", lambda asked: truncate_text(*asked)),
)
