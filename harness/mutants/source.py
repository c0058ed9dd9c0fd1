"""A module's source with its syntax tree, and places in it as offsets of its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Final

__all__ = ["CODE_ROOT", "Edit", "Source", "edited"]

CODE_ROOT: Final = Path(__file__).parents[2]
"""The folder of our packages, as the code that is running names it."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters `start` to `end` of a source replaced by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Source:
    """One module.

    Attributes:
        module: its dotted name.
        file: where it lies, from the checkout's root, with `/`.
        text: its source.
    """

    module: str
    file: str
    text: str

    @classmethod
    def read(cls, root: Path, file: Path) -> Source:
        """The module in `file`, below the checkout's `root`."""
        place = file.relative_to(root)
        names = place.with_suffix("").parts
        names = names[:-1] if names[-1] == "__init__" else names
        return cls(".".join(names), place.as_posix(), file.read_text("utf-8"))

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; nodes keep their places in `text`."""
        return ast.parse(self.text)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(map(len, self._lines))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Offsets of a node's first character and of the one behind its last."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._offset(node.lineno, node.col_offset)
        return start, self._offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """A node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """An edit that puts `text` in a node's place and keeps the number of lines."""
        start, end = self.span(node)
        gone = "\n" * max(self.text.count("\n", start, end) - text.count("\n"), 0)
        # A line may end within an expression only between brackets.
        within = bool(gone) and isinstance(node, ast.expr)
        return Edit(start, end, f"({text}{gone})" if within else text + gone)

    def _offset(self, line: int, column: int) -> int:
        """`column` counts bytes of UTF-8, as `ast` gives them."""
        text = self._lines[line - 1]
        before = column if text.isascii() else len(text.encode()[:column].decode())
        return self._starts[line - 1] + before


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    """`text` with edits that do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
