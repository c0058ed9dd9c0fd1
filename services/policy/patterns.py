"""Regular expressions over canonical arguments: compiling, judging and building them.

Source: core `policy/utils.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.wire import js_json, js_length

__all__ = [
    "command_prefix_patterns",
    "compile_pattern",
    "is_safe_pattern",
    "parameter_pattern",
]

_LONGEST_PATTERN: Final = 2048
_SPECIAL = re.compile(r"[-\[\]{}()*+?.,\\^$|#\s\"]")
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
    return [_escaped(f'"command":{js_json(prefix)[:-1]}') + r'(?:[\s"]|\\")' for prefix in wanted]


def parameter_pattern(name: str, value: str) -> str:
    r"""The pattern that narrows an approval to one argument, as 0.61.0 builds it.

    Upstream escapes the boundary once too often: the pattern looks for a backslash and a zero,
    which no canonical text has, so "always allow" for a file never matches again. Seen by a
    client as another question, and kept for that.
    """
    return rf"\\0{_escaped(f'{js_json(name)}:{js_json(value)}')}\\0"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: "\\" + match.group(), text)
