"""JavaScript's regular expressions for searches, with a time limit."""

from __future__ import annotations

import re
from typing import Final

from services.outside_patterns import OutsidePattern, PatternTooLarge, compile_outside

__all__ = ["JsRegexError", "compile_js", "js_source"]

_REASONS: Final = (
    ("unterminated subpattern", "Unterminated group"),
    ("unbalanced parenthesis", "Unmatched ')'"),
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
)
_SAME_ESCAPES: Final = frozenset("dDwWsSbBfnrtv0123456789")
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/-")
_SHOWN: Final = 1000
_REPEAT: Final = re.compile(r"\{\d+(,\d*)?\}")
_POSSESSIVE: Final = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\+")
_GROUP: Final = re.compile(r"\(\?(?![:=!<])")
_CONTROL: Final = re.compile(r"\\c([A-Za-z])")
_NAMED: Final = re.compile(r"\\k<(\w+)>")
_TWO_DIGITS: Final = re.compile(r"[0-9A-Fa-f]{2}")
_FOUR_DIGITS: Final = re.compile(r"[0-9A-Fa-f]{4}")


class JsRegexError(ValueError):
    """A pattern that JavaScript refuses; the message is that of its engine."""


def compile_js(pattern: str, *, ignore_case: bool = False) -> OutsidePattern:
    """Compile `pattern`.

    Raises:
        JsRegexError: `Invalid regular expression: /(/: Unterminated group`, for example.
    """
    try:
        return compile_outside(js_source(pattern), int(re.IGNORECASE) if ignore_case else 0)
    except re.error as error:
        reason = next(
            (theirs for ours, theirs in _REASONS if ours in error.msg), error.msg.capitalize()
        )
        raise _invalid(pattern, reason) from error
    except PatternTooLarge as error:
        raise _invalid(pattern, str(error)) from error


def _invalid(pattern: str, reason: str) -> JsRegexError:
    shown = pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}..."
    return JsRegexError(f"Invalid regular expression: /{shown}/: {reason}")


def js_source(pattern: str) -> str:
    """`pattern` in the syntax of Python's `re`.

    Raises:
        JsRegexError: it has syntax of Python's alone: flags, comments, atomic groups and the like.
    """
    translated: list[str] = []
    in_class = False
    place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "\\" and place + 1 < len(pattern):
            text, length = _escape(pattern, place, in_class=in_class)
            translated.append(text)
            place += length - 1
        elif in_class:
            in_class = character != "]"
            # `re` warns of the other three when doubled: they are reserved for set operations.
            translated.append(f"\\{character}" if character in "[&|~" else character)
        elif character == "[":
            in_class = True
            negated = pattern.startswith("^", place + 1)
            if pattern.startswith("]", place + 1 + negated):
                # An empty class never matches; an empty negated one always does.
                translated.append("[\\s\\S]" if negated else "(?!)")
                place += 1 + negated
                in_class = False
            else:
                translated.append(character)
        elif _GROUP.match(pattern, place):
            raise _invalid(pattern, "Invalid group")
        elif _POSSESSIVE.match(pattern, place):
            raise _invalid(pattern, "Nothing to repeat")
        elif pattern.startswith("(?<", place) and pattern[place + 3 : place + 4] not in ("=", "!"):
            translated.append("(?P<")
            place += 2
        elif character == "$":
            translated.append("\\Z")
        elif character == "{" and _REPEAT.match(pattern, place) is None:
            translated.append("\\{")
        else:
            translated.append(character)
        place += 1
    return "".join(translated)


def _escape(pattern: str, place: int, *, in_class: bool) -> tuple[str, int]:
    """The escape at `place` for Python, and its length in `pattern`."""
    following = pattern[place + 1]
    if following in _SAME_ESCAPES or following in _SYNTAX:
        return pattern[place : place + 2], 2
    if following == "x" and _TWO_DIGITS.match(pattern, place + 2):
        return "\\x", 2
    if following == "u" and _FOUR_DIGITS.match(pattern, place + 2):
        return "\\u", 2
    if control := _CONTROL.match(pattern, place):
        return re.escape(chr(ord(control[1]) % 32)), 3
    named = _NAMED.match(pattern, place)
    if named is not None and not in_class and f"(?<{named[1]}>" in pattern:
        return f"(?P={named[1]})", len(named[0])
    return re.escape(following), 2
