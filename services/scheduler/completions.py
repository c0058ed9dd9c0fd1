"""Reports each tool call that ends, once."""

from __future__ import annotations

from collections.abc import Callable

from services.message_bus import MessageBus, ToolCallsUpdate
from services.scheduler.calls import CompletedToolCall
from services.scheduler.states import ToolCall

__all__ = ["on_completed_calls"]


def on_completed_calls(
    bus: MessageBus, listener: Callable[[CompletedToolCall], None]
) -> Callable[[], None]:
    """Call `listener` with every tool call that ends from now on, whether it ran or not.

    Returns the function that unsubscribes. The bus reports what `listener` raises.
    """
    reported: dict[str, dict[int, object]] = {}
    """The ended requests of each scheduler's last update by their `id`, which they keep in use."""

    def take(update: ToolCallsUpdate) -> None:
        before = reported.get(update.scheduler_id, {})
        now: dict[int, object] = {}
        reported[update.scheduler_id] = now
        for call in update.calls:
            if not isinstance(call, ToolCall) or not call.status.terminal:
                continue
            # From its end on, a call keeps its request, while its call id may occur again.
            now[id(call.request)] = call.request
            if id(call.request) not in before:
                listener(call.completed())

    return bus.subscribe(ToolCallsUpdate, take)
