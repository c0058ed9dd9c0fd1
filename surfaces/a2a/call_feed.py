"""`CallFeed`: follows the tool calls of a task, and publishes what changes.

Source: `packages/a2a-server` `agent/task.ts` (`handleEventDrivenToolCall`,
`checkInputRequiredState`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol

from services.message_bus import ToolCallsUpdate
from services.scheduler.calls import CallStatus
from services.scheduler.states import ToolCall
from services.wire import Json
from surfaces.a2a.extension.calls import text_of

__all__ = ["CallFeed", "CallNews"]


class CallNews(Protocol):
    """Gets what happens to the calls of a task."""

    def batch_began(self) -> None:
        """The model has requested calls."""

    def call_changed(self, call: ToolCall) -> None:
        """A call has another status or outcome."""

    def call_wrote(self, call: ToolCall, text: str) -> None:
        """A running call has written; `text` is its whole output so far."""

    def batch_ended(self, prompt_id: str, *, refused: bool) -> None:
        """Every call has ended; `refused` where the user cancelled them all."""


@dataclass(slots=True)
class _Known:
    """What clients know of a call."""

    call: ToolCall
    output: Json = None
    answered: str | None = None
    """The question that the user has answered."""

    @property
    def waits(self) -> bool:
        """Whether the user is asked."""
        call = self.call
        asked = call.status is CallStatus.AWAITING_APPROVAL and call.outcome is None
        return asked and call.correlation_id != self.answered


class CallFeed:
    """The calls of one task, those of its subagents among them."""

    def __init__(self, news: CallNews) -> None:
        self._news = news
        self._known: dict[str, _Known] = {}
        self._batches: list[set[str]] = []

    def take(self, update: ToolCallsUpdate) -> None:
        """Take over a change."""
        calls = [call for call in update.calls if isinstance(call, ToolCall)]
        fresh = {
            call.call_id
            for call in calls
            if call.call_id not in self._known and call.parent_call_id is None
        }
        if fresh:
            self._batches.append(fresh)
            self._news.batch_began()
        for call in calls:
            self._take(call)
        self._end_batches()

    def writing(self) -> list[tuple[ToolCall, str]]:
        """The running calls that have written, with their whole output so far."""
        return [
            (known.call, _text_of(known.output))
            for known in self._known.values()
            if known.call.status is CallStatus.EXECUTING and known.output
        ]

    def waiting(self) -> list[str]:
        """The ids of the calls that wait for the user."""
        return [call_id for call_id, known in self._known.items() if known.waits]

    def asked(self, call_id: str) -> ToolCall | None:
        """The call, if it waits for the user."""
        known = self._known.get(call_id)
        return known.call if known is not None and known.waits else None

    def question(self, call_id: str) -> ToolCall | None:
        """The call, if it waits for the user; from now on it counts as answered."""
        if self.asked(call_id) is None:
            return None
        known = self._known[call_id]
        known.answered = known.call.correlation_id
        return known.call

    def blocks(self, prompt_id: str) -> bool:
        """Whether nothing of this prompt goes on before the user answers."""
        open_calls = [
            known
            for known in self._known.values()
            if not known.call.status.terminal and self._prompt_of(known.call) == prompt_id
        ]
        callers = {known.call.parent_call_id for known in open_calls}
        runs = (CallStatus.EXECUTING, CallStatus.SCHEDULED)
        busy = any(
            known.call.status in runs and known.call.call_id not in callers for known in open_calls
        )
        return not busy and any(known.waits for known in open_calls)

    def _prompt_of(self, call: ToolCall) -> str:
        while call.parent_call_id is not None and call.parent_call_id in self._known:
            call = self._known[call.parent_call_id].call
        return call.request.prompt_id

    def _take(self, call: ToolCall) -> None:
        known = self._known.get(call.call_id)
        before = None if known is None else (known.call.status, known.call.outcome)
        if known is None:
            known = self._known[call.call_id] = _Known(call)
        known.call = call
        if call.status is CallStatus.EXECUTING and call.live_output != known.output:
            known.output = call.live_output
            if call.live_output:
                self._news.call_wrote(call, _text_of(call.live_output))
        if (call.status, call.outcome) != before:
            self._news.call_changed(call)

    def _end_batches(self) -> None:
        for batch in list(self._batches):
            statuses = [self._known[call_id].call.status for call_id in batch]
            if all(status.terminal for status in statuses):
                self._batches.remove(batch)
                cancelled = all(status is CallStatus.CANCELLED for status in statuses)
                prompt_id = self._known[next(iter(batch))].call.request.prompt_id
                self._news.batch_ended(prompt_id, refused=cancelled)


def _text_of(output: Json) -> str:
    """Live output as text: a text, the lines of a terminal's screen, or a subagent's progress."""
    found = text_of(output)
    return json.dumps(output, ensure_ascii=False) if found is None else found
