"""`Secrets`: masks the credentials that a session has resolved.

Every response of a remote agent is masked, because a server may repeat what it received.
"""

from __future__ import annotations

import re
from typing import Final

from services.redaction import masked
from services.wire import Json, js_json

__all__ = ["Secrets"]

_SHORTEST: Final = 4
"""Shorter texts are not masked: they occur in every text."""


class Secrets:
    """The texts to mask."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def add(self, *texts: str) -> None:
        """Mask `texts` from now on, also in their JSON form."""
        forms = {form for text in texts for form in (text, js_json(text)[1:-1])}
        self._known |= {form for form in forms if len(form) >= _SHORTEST}
        longest_first = sorted(self._known, key=len, reverse=True)
        if longest_first:
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def masked(self, text: str) -> str:
        """Return `text` with masks of the same length."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: masked(found[0]), text)

    def masked_value(self, value: Json) -> Json:
        """Mask every text in a JSON value."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, list):
            return [self.masked_value(item) for item in value]
        if isinstance(value, dict):
            return {self.masked(key): self.masked_value(item) for key, item in value.items()}
        return value
