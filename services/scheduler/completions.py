"""Telling of tool calls that have ended, once each."""

from __future__ import annotations

from collections.abc import Callable

from services.message_bus import MessageBus, ToolCallsUpdate
from services.scheduler.calls import CompletedToolCall
from services.scheduler.states import ToolCall

__all__ = ["on_completed_calls"]


def on_completed_calls(
    bus: MessageBus, listener: Callable[[CompletedToolCall], None]
) -> Callable[[], None]:
    """Call `listener` with every tool call that reaches its end from now on, run or not.

    Returns the unsubscribe. What `listener` raises is the bus's to report.
    """
    told: dict[str, dict[int, object]] = {}
    """By scheduler: the ended requests of its last notice, held so that identity stays theirs."""

    def take(update: ToolCallsUpdate) -> None:
        before = told.get(update.scheduler_id, {})
        now: dict[int, object] = {}
        told[update.scheduler_id] = now
        for call in update.calls:
            if not isinstance(call, ToolCall) or not call.status.terminal:
                continue
            # The request is the one thing that a call keeps from its end to its last notice;
            # ids of calls come again.
            now[id(call.request)] = call.request
            if id(call.request) not in before:
                listener(call.completed())

    return bus.subscribe(ToolCallsUpdate, take)
