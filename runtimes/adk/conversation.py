"""What a session remembers between invocations: the history behind ADK's live session.

ADK's session holds only what the current invocation still works on; every turn that is settled
is here, in the form in which the next request carries it, with the chat recording at its side.
"""

from __future__ import annotations

from runtimes.adk.notes import Answer
from services.bundle import Services
from services.chat import SuccessiveChat

__all__ = ["Conversation"]


class Conversation(SuccessiveChat):
    """The current chat, and what outlives it: the counters for the client, and for hooks."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.expected: Answer | None = None
        """The answer that the model layer has yielded, until an event brings it."""

    def expect(self, answer: Answer | None) -> None:
        """Have the next event bring this answer; `None`: it has."""
        self.expected = answer
