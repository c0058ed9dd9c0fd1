"""PEM blocks: whole, or as far as they go where the end was cut off. PuTTY's private lines, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from services.redaction.kinds import Found, SecretKind

__all__ = ["pem_blocks"]

_BORDER: Final = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]{1,40})-----")
_BODY: Final = re.compile(r"[A-Za-z0-9+/=]{16}")
_CUT_BODY: Final = re.compile(
    r"(?:(?:\\[nr]|[\s\"'|>,\\]){0,16}(?:(?:Proc-Type|DEK-Info)[^\n\\]{0,100}"
    r"|[A-Za-z0-9+/=]{16,1024}+))+(?:(?:\\[nr]|\s){1,4}[A-Za-z0-9+/=]{1,15}+(?=[\r\n\\\"']|\Z))?"
)
_LINE_END: Final = r"(?:\\[nr]|[\r\n]){1,4}"
_PUTTY: Final = re.compile(
    rf"Private-Lines: \d{{1,4}}{_LINE_END}"
    rf"([A-Za-z0-9+/=]{{4,1024}}+(?:{_LINE_END}[A-Za-z0-9+/=]{{4,1024}}+(?![:\-]))*+)"
)


def pem_blocks(text: str) -> Iterator[Found]:
    """Blocks with something between their borders; prose that names a border is none."""
    if "Private-Lines: " in text:
        for match in _PUTTY.finditer(text):
            yield Found(*match.span(1), SecretKind.PEM)
    if "-----BEGIN " not in text:
        return
    borders = list(_BORDER.finditer(text))
    for number, border in enumerate(borders):
        if border[1] != "BEGIN":
            continue
        following = borders[number + 1] if number + 1 < len(borders) else None
        limit = len(text) if following is None else following.start()
        closed = following is not None and following.group(1, 2) == ("END", border[2])
        if closed and following is not None:
            if _BODY.search(text, border.end(), limit):
                yield Found(border.start(), following.end(), SecretKind.PEM)
        elif body := _CUT_BODY.match(text, border.end(), limit):
            yield Found(border.start(), body.end(), SecretKind.PEM)
