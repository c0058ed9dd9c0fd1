"""Errors of a request or an answer, with messages for the user. Retrying is useless."""

from __future__ import annotations

__all__ = ["AddressRefused", "AnswerTooLarge", "NetError", "UnreadableAnswer"]


class NetError(Exception):
    """The root. The text names an origin at most, never a path, a query or a header."""


class AddressRefused(NetError):
    """The request would send credentials, or the session's text, to a forbidden address."""


class AnswerTooLarge(NetError):
    """The answer holds more bytes than one answer may."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the answer is larger than {most} bytes")
        self.most = most


class UnreadableAnswer(NetError):
    """The answer's content-encoding cannot be undone."""
