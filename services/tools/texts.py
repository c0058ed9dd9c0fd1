"""Functions on text that several tools use.

Source: core `utils/textUtils.ts`, `tools/omissionPlaceholderDetector.ts`; npm
`strip-ansi`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from services.wire import js_length, js_slice, js_trim

__all__ = [
    "JS_SPACE",
    "cut_lines",
    "detect_line_ending",
    "js_fixed",
    "omission_placeholders",
    "strip_ansi",
    "to_crlf",
    "truncate_text",
    "wrap_untrusted",
]

JS_SPACE: Final = "[\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
"""JavaScript's `\\s`, for Python's patterns."""

_OMISSIONS: Final = frozenset(
    {
        "rest of",
        "rest of method",
        "rest of methods",
        "rest of code",
        "unchanged code",
        "unchanged method",
        "unchanged methods",
    }
)
_STOP: Final = r"(?:\x1b\\|\x9c)"
_CONTROLS: Final = r"\x18\x1a\x1b\x80-\x9f"
_ANSI: Final = re.compile(
    rf"\x1b\](?:P[0-9A-Fa-f]{{7}}|R)(?:\x07|{_STOP})?"
    rf"|(?:\x1b\]|\x9d)[^\x07{_CONTROLS}]*(?:\x07|{_STOP})"
    rf"|(?:\x1b[PX^_k]|[\x90\x98\x9e\x9f])[^{_CONTROLS}]*{_STOP}"
    r"|(?:\x1b\[|\x9b)[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]"
    r"|\x1b(?:[\x20-\x2f]+[\x30-\x7e]|[0-9A-PR-TZcf-oq-uy=><~|}])"
)
_LINE_ENDS: Final = "\n\r\u2028\u2029"


def wrap_untrusted(text: str) -> str:
    """`text` in tags that mark it as untrusted for the model, without closing tags inside."""
    escaped = text.replace("</untrusted_context>", "&lt;/untrusted_context&gt;")
    return f"<untrusted_context>\n{escaped}\n</untrusted_context>"


def strip_ansi(text: str) -> str:
    """`text` without terminal escape sequences."""
    return _ANSI.sub("", text)


def detect_line_ending(text: str) -> str:
    r"""`\r\n` when the text has one anywhere, else `\n`."""
    return "\r\n" if "\r\n" in text else "\n"


def to_crlf(text: str) -> str:
    r"""`text` with every line ending in `\r\n`."""
    return re.sub(r"\r?\n", "\r\n", text)


def cut_lines(lines: Sequence[str], longest: int) -> list[str]:
    """The lines, each cut to `longest` UTF-16 units with a mark."""
    return [
        f"{js_slice(line, 0, longest)}... [truncated]" if js_length(line) > longest else line
        for line in lines
    ]


def omission_placeholders(text: str) -> list[str]:
    """The lines that replace omitted code (`// rest of methods ...`), normalised.

    A placeholder is a whole line, perhaps after `//` or in parentheses: one of the known phrases
    and `...`, followed by nothing but more dots.
    """
    found = (_placeholder(line) for line in text.split("\n"))
    return [placeholder for placeholder in found if placeholder is not None]


def _placeholder(line: str) -> str | None:
    text = js_trim(line)
    if text.startswith("//"):
        text = js_trim(text[2:])
    if text.startswith("(") and text.endswith(")"):
        text = js_trim(text[1:-1])
    before, dots, after = text.partition("...")
    phrase = " ".join(re.split(r"[ \t\r\n]+", js_trim(before).lower()))
    if not dots or phrase not in _OMISSIONS or js_trim(after).strip("."):
        return None
    return f"{phrase} ..."


def js_fixed(value: float, digits: int) -> str:
    """`Number.prototype.toFixed`: halves of the exact binary value go up."""
    step = Decimal(1).scaleb(-digits)
    return str(Decimal(value).quantize(step, rounding=ROUND_HALF_UP))


def truncate_text(text: str, limit: int, suffix: str) -> str:
    """`text`, or at most `limit` UTF-16 units of it and `suffix`.

    A text that is cut loses its line ends too, as upstream's pattern for a character skips them.
    The cut separates no character from its combining marks.
    """
    if js_length(text) <= limit:
        return text
    kept: list[str] = []
    length = 0
    place = 0
    while place < len(text) and length < limit:
        start = place
        place += 1
        if text[start] in _LINE_ENDS:
            continue
        while place < len(text) and unicodedata.category(text[place])[0] == "M":
            place += 1
        cluster = text[start:place]
        length += js_length(cluster)
        if length > limit:
            break
        kept.append(cluster)
    return "".join(kept) + suffix
