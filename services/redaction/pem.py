"""PEM blocks: whole, or as far as they go where the end was cut off."""

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


def pem_blocks(text: str) -> Iterator[Found]:
    """Blocks with something between their borders; prose that names a border is none."""
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
