"""`Recall`: the texts that the user has sent, to be sent again."""

from __future__ import annotations

__all__ = ["Recall"]


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
