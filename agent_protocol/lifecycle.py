"""Which event may follow which on a stream: a table, and a checker that walks it.

A stream is *before* its `agent_start`, then *active*, then *ended* by its `agent_end`.

Source: reference `agent-protocol.md`, sections 1.2, 2.2 and 12.3. Timestamps play no part: they
need not be monotonic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from agent_protocol.errors import ProtocolViolation
from agent_protocol.events import (
    AgentEvent,
    Initialize,
    Message,
    ToolRequest,
    ToolResponse,
    ToolUpdate,
)

__all__ = ["LIFECYCLE", "LifecycleChecker", "LifecycleRule", "StreamPhase"]


class StreamPhase(StrEnum):
    """Where a stream is."""

    BEFORE = "before"
    ACTIVE = "active"
    ENDED = "ended"


class LifecycleRule(StrEnum):
    """What an agent must keep to. The value is the sentence a violation is reported with."""

    INITIALIZE_FIRST = "initialize is the first event of a session"
    ACTIVITY_AFTER_START = "agent activity comes after the stream's agent_start"
    ONE_START = "a stream has one agent_start"
    END_AFTER_START = "agent_end ends a stream that has started"
    NOTHING_AFTER_END = "nothing follows agent_end on the same stream"
    REQUEST_FIRST = "a tool_update or tool_response names a request made before on its stream"
    ONE_ANSWER_EACH = "a tool request is answered at most once for each time it was made"
    EVERY_START_ENDS = "every agent_start has its agent_end"


_BEFORE, _ACTIVE, _ENDED = StreamPhase

_ANY_TIME = {_BEFORE: _BEFORE, _ACTIVE: _ACTIVE}
_WITHIN = {_ACTIVE: _ACTIVE}

LIFECYCLE: Mapping[str, Mapping[StreamPhase, StreamPhase]] = MappingProxyType(
    {
        "initialize": {_BEFORE: _BEFORE},
        "session_update": _ANY_TIME,
        "message": _ANY_TIME,
        "custom": _ANY_TIME,
        "agent_start": {_BEFORE: _ACTIVE},
        "tool_request": _WITHIN,
        "tool_update": _WITHIN,
        "tool_response": _WITHIN,
        "usage": _WITHIN,
        "error": _WITHIN,
        "agent_end": {_ACTIVE: _ENDED},
    }
)
"""For each event type: the phases it may come in, and the phase it leaves the stream in.

One thing the table cannot say: before `agent_start` a `message` is never the agent's.
"""


class LifecycleChecker:
    """Follows one agent's events, over all its streams, and raises at the first illegal one."""

    def __init__(self) -> None:
        self._phases: dict[str, StreamPhase] = {}
        self._open_requests: Counter[tuple[str, str]] = Counter()
        self._requested: set[tuple[str, str]] = set()
        self._seen = 0

    def feed(self, event: AgentEvent) -> None:
        """Take the next event, in order of emission.

        Raises:
            ProtocolViolation: the event may not come here; the message names the rule, the event
                and its stream. The checker is as it was before the event.
        """
        if isinstance(event, Initialize) and self._seen:
            raise _violation(LifecycleRule.INITIALIZE_FIRST, event)
        phase = self._phases.get(event.stream_id, _BEFORE)
        following = LIFECYCLE[event.type].get(phase)
        agent_speaks_early = (
            phase is _BEFORE and isinstance(event, Message) and event.role == "agent"
        )
        if following is None or agent_speaks_early:
            raise _violation(_broken_rule(event, phase), event)
        self._follow_requests(event)
        self._phases[event.stream_id] = following
        self._seen += 1

    def finish(self) -> None:
        """End the check: every stream that started must have ended.

        Raises:
            ProtocolViolation: a stream is still active.
        """
        active = [stream for stream, phase in self._phases.items() if phase is _ACTIVE]
        if active:
            raise ProtocolViolation(
                f"{LifecycleRule.EVERY_START_ENDS}: still active: {', '.join(active)}"
            )

    def _follow_requests(self, event: AgentEvent) -> None:
        if not isinstance(event, ToolRequest | ToolUpdate | ToolResponse):
            return
        request = (event.stream_id, event.request_id)
        if isinstance(event, ToolRequest):
            self._requested.add(request)
            self._open_requests[request] += 1
            return
        if request not in self._requested:
            raise _violation(LifecycleRule.REQUEST_FIRST, event)
        if isinstance(event, ToolResponse):
            # A broken model stream that is retried asks, and answers, twice under one id.
            if not self._open_requests[request]:
                raise _violation(LifecycleRule.ONE_ANSWER_EACH, event)
            self._open_requests[request] -= 1


def _broken_rule(event: AgentEvent, phase: StreamPhase) -> LifecycleRule:
    if phase is _ENDED:
        return LifecycleRule.NOTHING_AFTER_END
    if event.type == "agent_start":
        return LifecycleRule.ONE_START
    if event.type == "agent_end":
        return LifecycleRule.END_AFTER_START
    if event.type == "initialize":
        return LifecycleRule.INITIALIZE_FIRST
    return LifecycleRule.ACTIVITY_AFTER_START


def _violation(rule: LifecycleRule, event: AgentEvent) -> ProtocolViolation:
    return ProtocolViolation(f"{rule}: {event.type} {event.id!r} on stream {event.stream_id!r}")
