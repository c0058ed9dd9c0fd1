"""The regular expressions that narrow an approval to one argument of a call.

Source: core `policy/utils.ts`.
"""

from __future__ import annotations

import re
from typing import Final

from services.wire import js_json

__all__ = ["escape_pattern", "parameter_pattern"]

_SPECIAL: Final = re.compile(r"[-\[\]{}()*+?.,\\^$|#\s\"]")


def escape_pattern(text: str) -> str:
    """`text` as a pattern that matches just it."""
    return _SPECIAL.sub(lambda match: "\\" + match.group(), text)


def parameter_pattern(name: str, value: str) -> str:
    r"""The pattern that narrows an approval to one argument, as 0.61.0 builds it.

    Upstream escapes the boundary once too often: the pattern requires a backslash and a zero, which
    no canonical text has. So "always allow" for a file never matches, and the client gets another
    question. That behaviour is kept.
    """
    return rf"\\0{escape_pattern(f'{js_json(name)}:{js_json(value)}')}\\0"
