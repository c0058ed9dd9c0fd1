"""Parses what a hook printed. Source: core `hooks/hookRunner.ts`."""

from __future__ import annotations

import json
from typing import Final

from services.json_values import refuse_depth
from services.wire import Json, js_trim

__all__ = ["HookFields", "parse_output"]

HookFields = dict[str, Json]
"""`continue`, `stopReason`, `suppressOutput`, `systemMessage`, `decision`, `reason`,
`hookSpecificOutput`; a list that was printed has none of them."""

_SUCCESS: Final = 0
_WARNING: Final = 1
_EXACT_DIGITS: Final = 15


def parse_output(stdout: str, stderr: str, exit_code: int | None) -> HookFields | None:
    """The output of a hook that ended.

    A JSON object is the output, whatever the exit code. Other JSON is no output. Other text is a
    message (exit code 0), a warning (1), or the reason of a refusal (all others).

    Args:
        stdout: Its output.
        stderr: Its error output, which counts where `stdout` is blank.
        exit_code: None when a signal ended it, which counts as 0 here.
    """
    text = js_trim(stdout) or js_trim(stderr)
    if not text:
        return None
    try:
        value = _parse(text)
        if isinstance(value, str):
            value = _parse(value)
    except (ValueError, RecursionError):
        return _plain(text, exit_code or _SUCCESS)
    if isinstance(value, dict):
        return value
    return {} if isinstance(value, list) else None


def _plain(text: str, exit_code: int) -> HookFields:
    if exit_code == _SUCCESS:
        return {"decision": "allow", "systemMessage": text}
    if exit_code == _WARNING:
        return {"decision": "allow", "systemMessage": f"Warning: {text}"}
    return {"decision": "deny", "reason": text}


def _parse(text: str) -> Json:
    value = json.loads(text, parse_constant=_refuse, parse_int=_number)
    refuse_depth(value)
    return value


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _number(digits: str) -> int | float:
    """JavaScript's numbers are doubles."""
    return int(digits) if len(digits) <= _EXACT_DIGITS else float(digits)
