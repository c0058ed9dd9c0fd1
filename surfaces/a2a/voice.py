"""`TaskVoice`: what a task says to those who follow it, in its dialect.

Source: `packages/a2a-server` `agent/task.ts` (`_createStatusUpdateEvent`).
"""

from __future__ import annotations

from typing import Final

from services.clock import iso_timestamp
from services.scheduler.states import ToolCall
from services.wire import JsonObject
from surfaces.a2a.dialects import Dialect
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.wire import agent_message, text_part
from surfaces.terminal.live import LiveSession

__all__ = ["UPDATE", "TaskVoice"]

UPDATE: Final = "tool-call-update"
_STATE_CHANGE: Final = "state-change"


class TaskVoice:
    """Publishes updates. Kinds are those of the published dialect.

    Args:
        feed: the task's record, and those who follow it.
        live: the session.
        dialect: the dialect of the task.
    """

    def __init__(self, feed: TaskFeed, live: LiveSession, dialect: Dialect) -> None:
        self._feed = feed
        self._live = live
        self._dialect = dialect
        self._message_id = self._new_id()
        self.answered_by: str | None = None
        """The model of the last answer."""

    @property
    def model(self) -> str:
        """The model that answers, or the configured one before the first answer."""
        return self.answered_by or self._live.services.state.model

    def begin_message(self) -> None:
        """Let what is said from now on belong to another message than before."""
        self._message_id = self._new_id()

    def state(
        self, state: str, text: str | None = None, *, final: bool = False, error: str | None = None
    ) -> None:
        """Report a state, with a text where one explains it.

        Args:
            state: the task's state.
            text: what the agent says about it.
            final: whether the turn has ended.
            error: what failed.
        """
        part = None if text is None else text_part(text)
        self._feed.publish(self._update(_STATE_CHANGE, part, state=state, final=final, error=error))

    def text(self, kind: str, text: str) -> None:
        """Report a text of the current message."""
        self._feed.publish(self._update(kind, text_part(text)))

    def thought(self, subject: str, description: str) -> None:
        """Report a thought."""
        data = self._dialect.thought(subject, description)
        self._feed.publish(self._update("thought", _data_part(data)))

    def note(self, text: str, *, error: str | None = None) -> None:
        """Report a text that is a message by itself; `error` is what failed."""
        part = text_part(text)
        self._feed.publish(
            self._update("text-content", part, message_id=self._new_id(), error=error)
        )

    def data(self, kind: str, data: JsonObject, *, remembers: bool = True) -> None:
        """Report data in a message of its own; the history keeps it if `remembers`."""
        event = self._update(kind, _data_part(data), message_id=self._new_id())
        self._feed.publish(event, remembers=remembers)

    def output(self, call: ToolCall, text: str) -> None:
        """Report a call's output so far. The history does not keep it: the result follows."""
        event = self.output_update(call, text)
        if event is None:
            event = {
                "kind": "artifact-update",
                "taskId": self._feed.record.id,
                "contextId": self._feed.record.context_id,
                "artifact": {
                    "artifactId": f"tool-{call.call_id}-output",
                    "parts": [text_part(text)],
                },
                "append": True,
                "lastChunk": False,
            }
        self._feed.publish(event, remembers=False)

    def output_update(self, call: ToolCall, text: str) -> JsonObject | None:
        """The update with a call's output so far; `None`: the output is an artifact."""
        data = self._dialect.output_data(call, text)
        if data is None:
            return None
        return self._update(UPDATE, _data_part(data), message_id=self._new_id())

    def _update(
        self,
        kind: str,
        part: JsonObject | None,
        *,
        state: str | None = None,
        message_id: str | None = None,
        final: bool = False,
        error: str | None = None,
    ) -> JsonObject:
        record = self._feed.record
        status: JsonObject = {"state": state or self._dialect.during or record.state}
        if part is not None:
            status["message"] = agent_message(
                [part],
                message_id=message_id or self._message_id,
                task_id=record.id,
                context_id=record.context_id,
            )
        status["timestamp"] = iso_timestamp(self._live.services.clock.now_ms())
        usage = self._live.metrics.last_usage if final else None
        return {
            "kind": "status-update",
            "taskId": record.id,
            "contextId": record.context_id,
            "status": status,
            "final": final,
            "metadata": self._dialect.metadata(kind, self.model, error=error, usage=usage),
        }

    def _new_id(self) -> str:
        return self._live.prepared.machine.ids.uuid("message")


def _data_part(data: JsonObject) -> JsonObject:
    return {"kind": "data", "data": data}
