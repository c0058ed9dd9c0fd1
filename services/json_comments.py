"""JSON with comments, as users write settings and rules."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["without_comments"]

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|//[^\n]*|/\*.*?(?:\*/|$(?!\n))', re.DOTALL)


def without_comments(text: str) -> str:
    """Replace comments with blanks, so that places in the text stay the same."""
    return _TOKEN.sub(lambda found: _blank(found.group()), text)


def _blank(token: str) -> str:
    return token if token.startswith('"') else re.sub(r"\S", " ", token)
