"""Regular expressions over canonical arguments: compiled, judged, and built for commands.

Source: core `policy/utils.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.argument_patterns import escape_pattern
from services.wire import js_json, js_length

__all__ = [
    "command_prefix_patterns",
    "compile_pattern",
    "is_safe_pattern",
]

_LONGEST_PATTERN: Final = 2048
_NESTED_QUANTIFIER = re.compile(r"\([^)]*[*+?{].*\)[*+?{]")
_NAMED_GROUP = re.compile(r"(?<!\\)\(\?<(?![=!])")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""Compile a rule's pattern, which is written the JavaScript way (ASCII `\w`).

    Raises:
        re.error: not a regular expression.
    """
    return re.compile(_NAMED_GROUP.sub("(?P<", pattern), re.ASCII)


def is_safe_pattern(pattern: str) -> bool:
    """Whether it compiles, is at most 2048 long and has no quantified group with a quantifier."""
    try:
        compile_pattern(pattern)
    except re.error:
        return False
    return js_length(pattern) <= _LONGEST_PATTERN and _NESTED_QUANTIFIER.search(pattern) is None


def command_prefix_patterns(prefixes: str | Sequence[str]) -> list[str]:
    """One pattern per command prefix: the prefix, then white space or a quote."""
    wanted = [prefixes] if isinstance(prefixes, str) else list(prefixes)
    return [
        escape_pattern(f'"command":{js_json(prefix)[:-1]}') + r'(?:[\s"]|\\")' for prefix in wanted
    ]
