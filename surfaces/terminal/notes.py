"""`Notes`: what the user did beside the conversation, for the model."""

from __future__ import annotations

from agent_protocol.content import TextPart

__all__ = ["Notes"]


class Notes:
    """Texts that go to the model in front of the user's next prompt."""

    def __init__(self) -> None:
        self._kept: list[str] = []

    def keep(self, text: str) -> None:
        """Keep `text`."""
        self._kept.append(text)

    def take(self) -> tuple[TextPart, ...]:
        """What was kept; a text is taken once."""
        kept, self._kept = self._kept, []
        return tuple(TextPart(text=text) for text in kept)

    def forget(self) -> None:
        """Drop what was kept: another conversation has begun."""
        self._kept.clear()
