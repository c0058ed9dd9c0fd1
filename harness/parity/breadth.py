"""Measures how much a waiver's path, scenario and values cover; too wide a waiver is refused.

Patterns are judged by the texts that they match: `.*`, `.+`, `^.*$` and `(a|[^a])*` are equal here.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence, Set
from functools import cache
from itertools import product
from typing import Final

from harness.parity.patterns import ValuePattern
from services.wire import Json

__all__ = [
    "PATHS",
    "SCENARIOS",
    "VALUES",
    "covers_nearly_all",
    "glob_pattern",
    "is_wide_glob",
    "is_wide_value",
    "value_pattern",
]

PATHS: Final = (
    "reason",
    "text",
    "delayMs",
    "inputTokens",
    "content[0].text",
    "config.temperature",
    "tools.read_file",
    "data.errorType",
    "line.toolCalls[0].status",
    "states[2]",
    "modelCalls.generateContentStream(main)",
    "parts[1].functionResponse.response.output",
    "activity.data.error",
)
"""Paths of every channel, of different shapes."""

SCENARIOS: Final = (
    "text/plain",
    "tools/read_two_files",
    "errors/429_exhausted",
    "fallback/handler_stop",
    "masking/once_only",
    "hooks/matchers",
    "loops/cycle_two",
    "mcp/dies",
    "http/quota_then_answer",
    "my_family/my_behaviour",
)

VALUES: Final = (
    "0",
    "17",
    "-3.5",
    "true",
    "null",
    "<absent>",
    "completed",
    "Hello there",
    "gemini-2.5-flash",
    "RESOURCE_EXHAUSTED",
    "a much longer sentence, with a comma; and an end.",
    "two\nlines",
    " padded ",
    "<WS>/src/a.txt",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '{"status":429,"message":"Too many"}',
    "[1,2,3]",
    "Ünlikely ünd 😀",
    "Error: File not found: zz.txt",
    "2026-01-01T00:00:00.001Z",
)
"""Values without anything in common."""

_MOST_VALUES: Final = len(VALUES) - 2

_ALPHABET: Final = (*"aeqxzAQZ0159 \n\t", *string.punctuation, "é", "語")
_LONGEST: Final = 16


def is_wide_glob(glob: str, samples: Sequence[str]) -> bool:
    """Whether a glob with `*` fits more than half of `samples`."""
    if "*" not in glob:
        return False
    return 2 * sum(map(glob_pattern(glob).fits, samples)) > len(samples)


def is_wide_value(value: Json) -> bool:
    """Whether it is a pattern that fits nearly any value.

    It does if it fits all but two of `VALUES`, or every text of three successive lengths.
    """
    if not (isinstance(value, str) and value.startswith("re:")):
        return False
    pattern = value_pattern(value[3:])
    if sum(map(pattern.fits, VALUES)) >= _MOST_VALUES:
        return True
    return _three_in_a_row(pattern.fits_all_of(_ALPHABET, _LONGEST))


def covers_nearly_all(parts: Sequence[tuple[Set[str], Set[str], Set[str]]]) -> bool:
    """Whether several waivers together cover nearly any value at any path.

    `parts` has for each waiver the `PATHS` and the `VALUES` of either side that it fits.
    """
    least = len(PATHS) * _MOST_VALUES**2
    if sum(len(paths) * len(these) * len(those) for paths, these, those in parts) < least:
        return False
    return len({each for part in parts for each in product(*part)}) >= least


def _three_in_a_row(lengths: Iterable[bool]) -> bool:
    found = list(lengths)
    return any(all(three) for three in zip(found, found[1:], found[2:], strict=False))


@cache
def value_pattern(source: str) -> ValuePattern:
    """The compiled pattern.

    Raises:
        PatternProblem: the pattern cannot be used.
    """
    return ValuePattern(source)


@cache
def glob_pattern(glob: str) -> ValuePattern:
    """A pattern in which `*` matches any text and every other character itself.

    Raises:
        PatternProblem: the glob is too long.
    """
    return value_pattern(".*".join(map(re.escape, glob.split("*"))))
