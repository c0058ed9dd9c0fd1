r"""Finds the text to replace: exactly, by trimmed lines, by tokens, or by similarity.

The first strategy with a match decides. Texts have `\n` line ends only.
Source: core `tools/edit.ts`, `calculateReplacement`.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from services.edit_distance import edit_distance
from services.tools.texts import JS_SPACE
from services.wire import js_length, js_trim, js_trim_end

__all__ = ["Replacement", "replace_text"]

_LINE: Final = re.compile("[^\n\r\u2028\u2029]*(?:\n|\\Z)")
_SPACES: Final = re.compile(f"{JS_SPACE}+")
_LEADING: Final = re.compile(f"\\A{JS_SPACE}+")
_DELIMITERS: Final = "():[]{}><="
_FUZZY_THRESHOLD: Final = 0.1
_SPACE_WEIGHT: Final = 0.1
_FUZZY_SHORTEST: Final = 10
_FUZZY_EFFORT: Final = 400_000_000
_TOKEN_EFFORT: Final = 50_000_000
"""The most comparisons of a token with a line in the search by tokens. Beyond this limit it finds
nothing, like the search for similar lines beyond its own limit."""
_COMPILING: Final = 1000
"""The number of lines that count for compiling the tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """The text after a replacement.

    `occurrences` counts the matches, also those that were not replaced. `ranges` are the line
    ranges (from 1, last included) of similar matches.
    """

    text: str
    occurrences: int
    ranges: tuple[tuple[int, int], ...] = ()
    strategy: str = ""
    """The strategy: `exact`, `flexible`, `regex` or `fuzzy`."""


def replace_text(text: str, old: str, new: str, *, allow_multiple: bool) -> Replacement:
    """Replace `old` by `new` in `text`; `occurrences` is 0 when no strategy found it."""
    search, replace = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not search:
        return Replacement(text=text, occurrences=0)
    strategies: tuple[tuple[str, Callable[[], Replacement | None]], ...] = (
        ("exact", lambda: _exact(text, search, replace, allow_multiple=allow_multiple)),
        ("flexible", lambda: _flexible(text, search, replace)),
        ("regex", lambda: _by_tokens(text, search, replace, allow_multiple=allow_multiple)),
        ("fuzzy", lambda: _similar(text, old, search, replace)),
    )
    for name, apply in strategies:
        found = apply()
        if found is not None:
            return dataclasses.replace(found, strategy=name)
    return Replacement(text=text, occurrences=0)


def _exact(text: str, search: str, replace: str, *, allow_multiple: bool) -> Replacement | None:
    count = text.count(search)
    if count == 0:
        return None
    if count > 1 and not allow_multiple:
        return Replacement(text=text, occurrences=count)
    return Replacement(text=_same_ending(text, text.replace(search, replace)), occurrences=count)


def _flexible(text: str, search: str, replace: str) -> Replacement | None:
    lines = _lines(text)
    wanted = [js_trim(line) for line in search.split("\n")]
    replacement = replace.split("\n")
    result: list[str] = []
    done = count = 0
    for place in _places([js_trim(line) for line in lines], wanted):
        count += 1
        last = lines[place + len(wanted) - 1]
        block = "\n".join(_indented(replacement, _indentation(lines[place])))
        if replace and last.endswith("\n") and not block.endswith("\n"):
            block += "\n"
        result += [*lines[done:place], block]
        done = place + len(wanted)
    if not count:
        return None
    result += lines[done:]
    return Replacement(text=_same_ending(text, "".join(result)), occurrences=count)


def _places(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """The places where `wanted` begins in `lines`, without overlaps, in linear time."""
    whole, part = "\n".join(("", *lines, "")), "\n".join(("", *wanted, ""))
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found = whole.find(part)
    while found >= 0:
        yield bisect_left(starts, found)
        found = whole.find(part, found + len(part) - 1)


def _by_tokens(text: str, search: str, replace: str, *, allow_multiple: bool) -> Replacement | None:
    spaced = "".join(f" {char} " if char in _DELIMITERS else char for char in search)
    tokens = [re.escape(token) for token in _SPACES.split(spaced) if token]
    if not tokens or (text.count("\n") + _COMPILING) * len(tokens) > _TOKEN_EFFORT:
        return None
    pattern = re.compile(f"^([ \t]*){f'{JS_SPACE}*'.join(tokens)}", re.MULTILINE)
    count = sum(1 for _ in pattern.finditer(text))
    if not count:
        return None
    lines = replace.split("\n")
    replaced = pattern.sub(
        lambda match: "\n".join(_indented(lines, match[1])), text, 0 if allow_multiple else 1
    )
    return Replacement(text=_same_ending(text, replaced), occurrences=count)


def _similar(text: str, old: str, search: str, replace: str) -> Replacement | None:
    length = js_length(old)
    lines = _lines(text)
    if length < _FUZZY_SHORTEST or len(lines) * length**2 > _FUZZY_EFFORT:
        return None
    wanted = [js_trim_end(line) for line in _lines(search)]
    height, block = len(wanted), "\n".join(wanted)
    if not block:
        return None
    scores: list[tuple[float, int]] = []
    for place in range(len(lines) - height + 1):
        window = "\n".join(js_trim_end(line) for line in lines[place : place + height])
        score = _score(window, block)
        if score is not None:
            scores.append((score, place))
    chosen: list[int] = []
    for _, place in sorted(scores):
        if all(abs(place - other) >= height for other in chosen):
            chosen.append(place)
    if not chosen:
        return None
    replacement = replace.split("\n")
    for place in sorted(chosen, reverse=True):
        new_block = "\n".join(_indented(replacement, _indentation(lines[place])))
        if lines[place + height - 1].endswith("\n"):
            new_block += "\n"
        lines[place : place + height] = [new_block]
    return Replacement(
        text=_same_ending(text, "".join(lines)),
        occurrences=len(chosen),
        ranges=tuple((place + 1, place + height) for place in sorted(chosen)),
    )


def _score(window: str, block: str) -> float | None:
    """The difference of the two, 0 to 0.1; `None` beyond. White space counts a tenth."""
    length = len(block)
    if abs(len(window) - length) / length > _FUZZY_THRESHOLD / _SPACE_WEIGHT:
        return None
    bare_window, bare_block = _SPACES.sub("", window), _SPACES.sub("", block)
    # The distance without white space is a lower bound of the weighted one.
    if abs(len(bare_window) - len(bare_block)) > length * _FUZZY_THRESHOLD:
        return None
    bare = edit_distance(bare_window, bare_block)
    if bare > length * _FUZZY_THRESHOLD:
        return None
    weighted = bare + (edit_distance(window, block) - bare) * _SPACE_WEIGHT
    score = weighted / length
    return score if score <= _FUZZY_THRESHOLD else None


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)[:-1]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indented(lines: Sequence[str], target: str) -> list[str]:
    """The lines with the indentation of the first replaced by `target`; blank lines are emptied."""
    reference = _indentation(lines[0])
    moved: list[str] = []
    for line in lines:
        if not js_trim(line):
            moved.append("")
        elif line.startswith(reference):
            moved.append(target + line[len(reference) :])
        else:
            moved.append(target + _LEADING.sub("", line))
    return moved


def _same_ending(before: str, after: str) -> str:
    """`after` with a final newline exactly when `before` has one."""
    if before.endswith("\n"):
        return after if after.endswith("\n") else after + "\n"
    return after.removesuffix("\n")
