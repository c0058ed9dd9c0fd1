"""A plain command line as words, without a shell.

Source: core `tools/mcp-client.ts` (`populateMcpServerCommand`), npm `shell-quote`.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["shell_words"]

_WORD: Final = re.compile(
    r"""\s+|(?P<op>[|&;<>()]+)|(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\|&;<>()])+)"""
)
_PIECE: Final = re.compile(r"""\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)"|([^\\'"]+)""")
_PATTERN: Final = re.compile(r"[*?]")


def shell_words(command: str) -> list[str] | None:
    """The words of a plain command line; `None` where it has operators, patterns or open quotes."""
    words: list[str] = []
    at = 0
    while at < len(command):
        found = _WORD.match(command, at)
        if found is None or found["op"]:
            return None
        if found["word"]:
            if _is_more(found["word"]):
                return None
            words.append(_unquoted(found["word"]))
        at = found.end()
    return words


def _is_more(word: str) -> bool:
    """Whether it is a pattern, for which an escape changes nothing, or begins a comment."""
    pieces = [found.groups() for found in _PIECE.finditer(word)]
    return any(
        _PATTERN.search(escaped or plain or "") or "#" in (plain or "")
        for escaped, _, _, plain in pieces
    )


def _unquoted(word: str) -> str:
    def piece(found: re.Match[str]) -> str:
        escaped, single, double, plain = found.groups()
        if double is not None:
            return re.sub(r'\\(["\\$])', r"\1", double)
        return str(next(part for part in (escaped, single, plain) if part is not None))

    return _PIECE.sub(piece, word)
