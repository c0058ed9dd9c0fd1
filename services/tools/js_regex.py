"""JavaScript's regular expressions, as far as searches use them, run by Python's engine."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["JsRegexError", "compile_js"]

_REASONS: Final = (
    ("unterminated subpattern", "Unterminated group"),
    ("unbalanced parenthesis", "Unmatched ')'"),
    ("nothing to repeat", "Nothing to repeat"),
    ("multiple repeat", "Nothing to repeat"),
    ("unterminated character set", "Unterminated character class"),
    ("bad escape (end of pattern)", "\\ at end of pattern"),
    ("bad character range", "Range out of order in character class"),
    ("min repeat greater than max repeat", "numbers out of order in {} quantifier"),
    ("unknown extension", "Invalid group"),
    ("bad character in group name", "Invalid capture group name"),
    ("unterminated name", "Invalid capture group name"),
    ("missing group name", "Invalid capture group name"),
    ("redefinition of group name", "Duplicate capture group name"),
    ("look-behind requires fixed-width pattern", "Invalid group"),
)
_SAME_ESCAPES: Final = frozenset("dDwWsSbBfnrtv0123456789")
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/-")


class JsRegexError(ValueError):
    """A pattern that JavaScript would refuse; the message is its engine's."""


def compile_js(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """Compile `pattern`.

    Raises:
        JsRegexError: `Invalid regular expression: /(/: Unterminated group`, for example.
    """
    try:
        return re.compile(_translate(pattern), re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        reason = next(
            (theirs for ours, theirs in _REASONS if ours in error.msg), error.msg.capitalize()
        )
        raise JsRegexError(f"Invalid regular expression: /{pattern}/: {reason}") from error


def _translate(pattern: str) -> str:
    translated = ""
    in_class = False
    place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "\\" and place + 1 < len(pattern):
            translated += _escape(pattern, place)
            place += 1
        elif in_class:
            in_class = character != "]"
            translated += "\\[" if character == "[" else character
        elif character == "[":
            in_class = True
            negated = pattern.startswith("^", place + 1)
            if pattern.startswith("]", place + 1 + negated):
                # An empty class never matches; an empty negated one always does.
                translated += "[\\s\\S]" if negated else "(?!)"
                place += 1 + negated
                in_class = False
            else:
                translated += character
        elif pattern.startswith("(?<", place) and pattern[place + 3 : place + 4] not in ("=", "!"):
            translated += "(?P<"
            place += 2
        elif character == "$":
            translated += "\\Z"
        elif character == "{" and re.match(r"\{\d+(,\d*)?\}", pattern[place:]) is None:
            translated += "\\{"
        else:
            translated += character
        place += 1
    return translated


def _escape(pattern: str, place: int) -> str:
    following = pattern[place + 1]
    if following in _SAME_ESCAPES or following in _SYNTAX:
        return pattern[place : place + 2]
    if following == "x" and re.match(r"[0-9A-Fa-f]{2}", pattern[place + 2 :]):
        return "\\x"
    if following == "u" and re.match(r"[0-9A-Fa-f]{4}", pattern[place + 2 :]):
        return "\\u"
    return re.escape(following)
