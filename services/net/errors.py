"""What stops a request or an answer, in words for the user. None of it is worth a second try."""

from __future__ import annotations

__all__ = ["AddressRefused", "AnswerTooLarge", "NetError", "UnreadableAnswer"]


class NetError(Exception):
    """The root. The text names an origin at most, never a path, a query or a header."""


class AddressRefused(NetError):
    """The request would take credentials, or the session's text, where they must not go."""


class AnswerTooLarge(NetError):
    """The answer holds more bytes than one answer may."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the answer is larger than {most} bytes")
        self.most = most


class UnreadableAnswer(NetError):
    """The answer's content-encoding cannot be undone."""
