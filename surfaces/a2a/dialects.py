"""The dialects of a task: what its events look like, and how its client answers.

Source: `packages/a2a-server` `agent/task.ts` for the published one.
"""

from __future__ import annotations

from typing import Protocol

from services.scheduler.states import ToolCall
from services.wire import JsonObject
from surfaces.a2a.calls import Answer, answer_in, call_shown
from surfaces.a2a.extension.dialect import ExtensionDialect
from surfaces.allowed import Allowed

__all__ = ["Dialect", "dialect_of"]


def dialect_of(extension: str | None, allowed: Allowed, user_tier: str | None) -> Dialect:
    """The dialect of a task.

    Args:
        extension: the URI of the extension as the client writes it; `None`: the published dialect.
        allowed: what the settings let the user allow beyond one call.
        user_tier: the tier of the user's account, if there is one.
    """
    if extension is None:
        return _PublishedDialect(user_tier)
    return ExtensionDialect(extension, allowed, user_tier)


class Dialect(Protocol):
    """How a task speaks. Kinds are those of the published dialect."""

    during: str | None
    """The state in the updates of a turn; `None`: the last state."""
    ended: str
    """The state after a turn in which no call waits."""

    def metadata(
        self, kind: str, model: str, *, error: str | None, usage: JsonObject | None
    ) -> JsonObject:
        """The metadata of an event; `usage` is what the turn has cost."""

    def call_data(self, call: ToolCall) -> list[JsonObject]:
        """The data of each event about a call's new status."""

    def output_data(self, call: ToolCall, text: str) -> JsonObject | None:
        """The data about a call's output so far; `None`: the output is an artifact."""

    def thought(self, subject: str, description: str) -> JsonObject:
        """The data of a thought."""

    def read(self, message: JsonObject) -> tuple[list[Answer], list[str]]:
        """The answers and the texts in a message.

        Raises:
            RpcError: an answer cannot be followed.
        """

    def check(self, answer: Answer, call: ToolCall | None) -> None:
        """Check an answer against the call that waits for it; `None`: no call does.

        Raises:
            RpcError: it does not fit.
        """

    def settled(self, answer: Answer, call: ToolCall) -> Answer | None:
        """What the scheduler gets for a checked answer; `None`: the call asks its next question."""

    def answer_data(self, answer: Answer) -> list[JsonObject]:
        """The data of the events about an answer for the clients that did not give it."""


class _PublishedDialect:
    """The dialect of the published server.

    Args:
        user_tier: the tier of the user's account, if there is one.
    """

    during: str | None = None
    ended = "input-required"

    def __init__(self, user_tier: str | None) -> None:
        self._user_tier = user_tier

    def metadata(
        self, kind: str, model: str, *, error: str | None, usage: JsonObject | None
    ) -> JsonObject:
        """The metadata of an event."""
        found: JsonObject = {"coderAgent": {"kind": kind}, "model": model}
        if self._user_tier is not None:
            found["userTier"] = self._user_tier
        if error is not None:
            found["error"] = error
        if usage:
            found["usageMetadata"] = usage
        return found

    def call_data(self, call: ToolCall) -> list[JsonObject]:
        """The members of the call that clients read."""
        return [call_shown(call)]

    def output_data(self, call: ToolCall, text: str) -> JsonObject | None:
        """Nothing: the output is an artifact."""
        return None

    def thought(self, subject: str, description: str) -> JsonObject:
        """The data of a thought."""
        return {"subject": subject, "description": description}

    def read(self, message: JsonObject) -> tuple[list[Answer], list[str]]:
        """The answers and the texts in a message."""
        answers, texts = [], []
        for part in message["parts"]:
            answer = answer_in(part)
            if answer is not None:
                answers.append(answer)
            elif part.get("kind") == "text":
                texts.append(part["text"])
        return answers, texts

    def check(self, answer: Answer, call: ToolCall | None) -> None:
        """Accept any answer: one that no call waits for ends the turn at once."""

    def settled(self, answer: Answer, call: ToolCall) -> Answer | None:
        """The answer itself."""
        return answer

    def answer_data(self, answer: Answer) -> list[JsonObject]:
        """Nothing."""
        return []
