"""The dialects of a task: what its events look like, and how its client answers.

Source: `packages/a2a-server` `agent/task.ts` for the published one.
"""

from __future__ import annotations

from typing import Protocol

from services.scheduler.states import ToolCall
from services.wire import JsonObject
from surfaces.a2a.calls import Answer, answer_in, call_shown
from surfaces.a2a.extension.dialect import ExtensionDialect

__all__ = ["Dialect", "dialect_of"]


def dialect_of(extension: str | None, *, always: bool) -> Dialect:
    """The dialect of a task.

    Args:
        extension: the URI of the extension as the client writes it; `None`: the published dialect.
        always: whether the settings let the user allow more than one call.
    """
    if extension is None:
        return _PublishedDialect()
    return ExtensionDialect(extension, always=always)


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

    def call_data(self, call: ToolCall) -> JsonObject | None:
        """The data about a call's new status; `None`: clients get no event."""

    def output_data(self, call: ToolCall, text: str) -> JsonObject | None:
        """The data about a call's output so far; `None`: the output is an artifact."""

    def thought(self, subject: str, description: str) -> JsonObject:
        """The data of a thought."""

    def answer_in(self, part: JsonObject) -> Answer | None:
        """The answer in a part of a message; `None` if it has none.

        Raises:
            RpcError: it cannot be followed.
        """

    def check(self, answer: Answer, call: ToolCall | None) -> None:
        """Check an answer against the call that waits for it; `None`: no call does.

        Raises:
            RpcError: it does not fit.
        """


class _PublishedDialect:
    """The dialect of the published server."""

    during: str | None = None
    ended = "input-required"

    def metadata(
        self, kind: str, model: str, *, error: str | None, usage: JsonObject | None
    ) -> JsonObject:
        """The metadata of an event."""
        found: JsonObject = {"coderAgent": {"kind": kind}, "model": model}
        if error is not None:
            found["error"] = error
        if usage:
            found["usageMetadata"] = usage
        return found

    def call_data(self, call: ToolCall) -> JsonObject | None:
        """The members of the call that clients read."""
        return call_shown(call)

    def output_data(self, call: ToolCall, text: str) -> JsonObject | None:
        """Nothing: the output is an artifact."""
        return None

    def thought(self, subject: str, description: str) -> JsonObject:
        """The data of a thought."""
        return {"subject": subject, "description": description}

    def answer_in(self, part: JsonObject) -> Answer | None:
        """The answer in a part of a message."""
        return answer_in(part)

    def check(self, answer: Answer, call: ToolCall | None) -> None:
        """Accept any answer: one that no call waits for ends the turn at once."""
