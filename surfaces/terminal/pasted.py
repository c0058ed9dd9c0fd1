"""`PastedTexts`: long texts that the user has pasted, and what stands for them in the input.

Source: `packages/cli` `ui/components/shared/text-buffer.ts` (`generatePastedTextId`).
"""

from __future__ import annotations

import re
from typing import Final

from surfaces.headless.streams import strip_ansi

__all__ = ["PastedTexts", "typed_text"]

_MOST_LINES: Final = 5
_MOST_LETTERS: Final = 500
_PLACEHOLDER: Final = re.compile(r"\[Pasted Text: \d+ (?:lines|chars)(?: #\d+)?\]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def typed_text(text: str) -> str:
    """`text` as if it had been typed: with line feeds, and without control characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", strip_ansi(lines))


class PastedTexts:
    """Keeps the texts of a session, so that a prompt can be sent again."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def shown(self, text: str) -> str:
        """What stands in the input for a pasted text: a short one itself."""
        lines = text.count("\n") + 1
        if lines <= _MOST_LINES and len(text) <= _MOST_LETTERS:
            return text
        size = f"{lines} lines" if lines > _MOST_LINES else f"{len(text)} chars"
        placeholder, number = f"[Pasted Text: {size}]", 1
        while self._texts.get(placeholder, text) != text:
            number += 1
            placeholder = f"[Pasted Text: {size} #{number}]"
        self._texts[placeholder] = text
        return placeholder

    def expanded(self, text: str) -> str:
        """The contents of the input with the pasted texts in their places."""
        return _PLACEHOLDER.sub(lambda found: self._texts.get(found[0], found[0]), text)
