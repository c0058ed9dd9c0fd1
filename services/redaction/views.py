"""Other readings of a text: without what a screen does not show, and with escapes decoded.

A colour code before, after or inside a key, a zero-width character or a percent escape hides the
key from a pattern. A view is the text as it reads without them; it maps each of its places back
to the original, so that a mask leaves the codes where they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["View", "views"]

_ESC: Final = r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e(?=[\[\]]))"
_BEL: Final = r"(?:\x07|\x1b\\|\\u0007|\\x07|\\a|\\007)"
# An OSC that does not end within a line is not a sequence; a terminal would show what follows.
_CODES: Final = (
    rf"(?:{_ESC}\[|\x9b)[0-?]{{0,64}}+[ -/]{{0,8}}+[@-~]"
    rf"|{_ESC}\][^\x07\x1b\r\n]{{0,2048}}?{_BEL}"
    r"|\x1b[ -/]{0,2}+[0-Z\\^-~]"
)
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
_CODE: Final = re.compile(_CODES)
_UNSEEN: Final = re.compile(f"[{_INVISIBLE}]")
_HIDDEN: Final = re.compile(rf"{_CODES}|[{_INVISIBLE}]++")
_ESCAPE: Final = re.compile(
    r"%[0-7][0-9A-Fa-f]|\\u00[0-7][0-9A-Fa-f]|\\x[2-7][0-9A-Fa-f]|&(?:amp|quot|\#39|\#x27);"
)
_ENTITIES: Final = {"&amp;": "&", "&quot;": '"', "&#39;": "'", "&#x27;": "'"}
_CODE_HINT: Final = re.compile(r"[\x1b\x9b]|\\[ux0e]")


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text.

    Args:
        text: What the patterns read.
        starts: Where each run of the view begins in `text`, in ascending order; empty where the
            view has the places of the original.
        runs: For each of `starts`, the run's start and end in the original. A run is as long as in
            the view, or it is an escape that the view shows as one character.
    """

    text: str
    starts: tuple[int, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()

    def original(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The pieces of the original that read as `text[start:end]`, in order and apart."""
        if not self.starts:
            yield start, end
            return
        piece: tuple[int, int] | None = None
        for number in range(bisect_right(self.starts, start) - 1, len(self.starts)):
            at, (low, high) = self.starts[number], self.runs[number]
            if at >= end:
                break
            long = (
                self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
            ) - at
            if long == high - low:
                low, high = low + max(start - at, 0), low + min(end - at, long)
            if piece is not None and piece[1] == low:
                piece = (piece[0], high)
                continue
            if piece is not None:
                yield piece
            piece = (low, high)
        if piece is not None:
            yield piece


def views(text: str) -> Iterator[View]:
    """`text` itself, then its other readings, if it has any."""
    plain = View(text)
    yield plain
    shown = plain
    coded = _CODE_HINT.search(text) is not None and _CODE.search(text) is not None
    if coded:
        # A code between two words separates them: a new word begins after it.
        yield View(_CODE.sub(lambda code: " " * len(code[0]), text))
    if coded or (not text.isascii() and _UNSEEN.search(text)):
        shown = _without(text)
        yield shown
    decoded = _decoded(shown)
    if decoded is not None:
        yield decoded


def _without(text: str) -> View:
    pieces, starts, runs = [], [], []
    at = end = 0
    for hidden in _HIDDEN.finditer(text):
        if hidden.start() > end:
            pieces.append(text[end : hidden.start()])
            starts.append(at)
            runs.append((end, hidden.start()))
            at += hidden.start() - end
        end = hidden.end()
    if end < len(text):
        pieces.append(text[end:])
        starts.append(at)
        runs.append((end, len(text)))
    return View("".join(pieces), tuple(starts), tuple(runs))


def _decoded(view: View) -> View | None:
    """`view` with its escapes decoded; `None` if it has none."""
    text = view.text
    pieces: list[str] = []
    starts: list[int] = []
    runs: list[tuple[int, int]] = []
    at = end = 0

    def keep(start: int, stop: int) -> None:
        nonlocal at
        for low, high in view.original(start, stop):
            starts.append(at)
            runs.append((low, high))
            at += high - low

    for escape in _ESCAPE.finditer(text):
        if escape.start() > end:
            pieces.append(text[end : escape.start()])
            keep(end, escape.start())
        (low, *_), (*_, high) = zip(*view.original(escape.start(), escape.end()), strict=True)
        pieces.append(_character(escape[0]))
        starts.append(at)
        runs.append((low, high))
        at += 1
        end = escape.end()
    if not end:
        return None
    if end < len(text):
        pieces.append(text[end:])
        keep(end, len(text))
    return View("".join(pieces), tuple(starts), tuple(runs))


def _character(escape: str) -> str:
    return _ENTITIES.get(escape) or chr(int(escape[-2:], 16))
