"""Markdown around texts of strangers: shown as they are, and changing nothing of the page.

What a stranger may have written stands in code spans and fences: there nothing is a link, a
mention, an image or a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from harness.canonical import printable
from services.redaction import redacted

__all__ = ["cell", "code", "fenced", "prose", "said", "table"]

_LOUD: Final = re.compile(r"[\\`*\[\]<>~$|]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown (GitHub's formulas included) reads as more than text. An underscore inside a word
is left alone: names are full of them."""
_PLAIN: Final = re.compile(r"(?!.*(?:://|www\.))[\w\s.,:;()'\"/+=-]*")
"""Text in which GitHub sees no person, issue or address either, which it does after Markdown."""
_LONGEST_LINE: Final = 2_000


def prose(text: str) -> str:
    """`text` on one line, as plain text."""
    return _LOUD.sub(r"\\\g<0>", printable(" ".join(redacted(text).split())))


def said(text: str) -> str:
    """`text` on one line: as prose where all of it is harmless, otherwise as a code span."""
    line = " ".join(text.split())
    return prose(line) if _PLAIN.fullmatch(line) else code(_cut(line))


def code(text: str) -> str:
    """`text`, which is not empty, on one line, as a code span that holds whatever backticks."""
    shown = printable(redacted(text))
    fence = "`" * (_backticks(shown) + 1)
    # Markdown takes one space off either side again, unless there is nothing but spaces.
    pad = " " if shown.strip(" ") and (shown[0] in "` " or shown[-1] in "` ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(lines: Iterable[str]) -> str:
    """`lines` as a block of code that none of them can end; long ones are cut."""
    shown = [_cut(printable(redacted(line))) for line in lines]
    fence = "`" * max(3, max(map(_backticks, shown), default=0) + 1)
    return "\n".join([fence, *shown, fence])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    ruler = [":--", *("--:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ruler, *rows))


def cell(text: str) -> str:
    """`text` as a code span for a table, where a bar would end a cell even inside of one."""
    return code(text.replace("|", "\\x7c"))


def _backticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _cut(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}… ({len(line)} characters)"
