"""`Recall`: the texts that the user has sent, to be sent again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Recall", "Recalled"]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A text that was found, as a line of the menu."""

    value: str
    description: str = ""
    runs_at_once: bool = True


class Recall:
    """The sent texts, oldest first, and the place of the one in the input."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._place = 0
        self._draft = ""

    def keep(self, text: str) -> None:
        """Keep a text that was sent; a repetition of the latest is not kept."""
        if self._texts[-1:] != [text]:
            self._texts.append(text)
        self._place = len(self._texts)

    def put_before(self, texts: Sequence[str]) -> None:
        """Put the texts of earlier sessions, oldest first, before all that were kept."""
        self._texts[:0] = texts
        self._place += len(texts)

    def found(self, words: str) -> list[Recalled]:
        """The texts that have `words` in them, the latest first, each once."""
        wanted = words.lower()
        found = dict.fromkeys(text for text in reversed(self._texts) if wanted in text.lower())
        return [Recalled(text) for text in found]

    def step(self, by: int, present: str) -> str | None:
        """The text so many places further; `None`: there is none.

        `present` is the text in the input. It comes back after the latest one.
        """
        place = self._place + by
        if not 0 <= place <= len(self._texts):
            return None
        if self._place == len(self._texts):
            self._draft = present
        self._place = place
        return self._draft if place == len(self._texts) else self._texts[place]
