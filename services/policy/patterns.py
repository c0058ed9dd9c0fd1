"""Regular expressions over canonical arguments: compiled, judged, and built for commands.

Source: core `policy/utils.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.argument_patterns import escape_pattern
from services.outside_patterns import OutsidePattern, compile_outside
from services.tools.js_regex import compile_js
from services.wire import js_json, js_length

__all__ = [
    "command_prefix_patterns",
    "compile_pattern",
    "is_safe_pattern",
]

_LONGEST_PATTERN: Final = 2048
_QUANTIFIERS: Final = frozenset("*+?{")
_SPACES: Final = r"\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_LINE_ENDS: Final = r"\n\r\u2028\u2029"
_PIECE: Final = re.compile(r"\\.|[\[\].]", re.DOTALL)


def compile_pattern(pattern: str) -> OutsidePattern:
    r"""Compile a rule's pattern, which is written the JavaScript way.

    `\w` and `\d` are ASCII, `\s` is not, and `.` stops at any line end.

    Raises:
        ValueError: not a regular expression; the message is JavaScript's.
    """
    source = compile_js(pattern).source
    in_class = False

    def translated(match: re.Match[str]) -> str:
        nonlocal in_class
        piece = match.group()
        if piece in "[]":
            in_class = piece == "["
        elif piece == r"\s":
            return _SPACES if in_class else f"[{_SPACES}]"
        elif piece == r"\S" and not in_class:
            return f"[^{_SPACES}]"
        elif piece == "." and not in_class:
            return f"[^{_LINE_ENDS}]"
        return piece

    return compile_outside(_PIECE.sub(translated, source), int(re.ASCII))


def is_safe_pattern(pattern: str) -> bool:
    """Whether it compiles, is at most 2048 long and has no quantified group with a quantifier."""
    try:
        compile_pattern(pattern)
    except ValueError:
        return False
    return js_length(pattern) <= _LONGEST_PATTERN and not _has_nested_quantifier(pattern)


def _has_nested_quantifier(pattern: str) -> bool:
    r"""Whether the core's `\([^)]*[*+?{].*\)[*+?{]` is found; an engine can need cubic time."""
    in_group = quantified = False
    for place, character in enumerate(pattern):
        if character == "(":
            in_group = True
        elif character == ")":
            in_group = False
            if quantified and pattern[place + 1 : place + 2] in _QUANTIFIERS:
                return True
        elif character in _QUANTIFIERS:
            quantified = quantified or in_group
        elif character in "\n\r\u2028\u2029":
            quantified = False
    return False


def command_prefix_patterns(prefixes: str | Sequence[str]) -> list[str]:
    """One pattern per command prefix: the prefix, then white space or a quote."""
    wanted = [prefixes] if isinstance(prefixes, str) else list(prefixes)
    return [
        escape_pattern(f'"command":{js_json(prefix)[:-1]}') + r'(?:[\s"]|\\")' for prefix in wanted
    ]
