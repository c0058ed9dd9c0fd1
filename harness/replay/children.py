"""`SeenChildren`: records what the child agents of a run report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent_protocol.codec import to_wire
from agent_protocol.errors import ProtocolViolation
from agent_protocol.events import AgentEvent
from agent_protocol.lifecycle import LifecycleChecker
from harness.replay.observation import ChildObservation
from services.subagents.activity import SubagentActivity
from services.subagents.child import StartedChild
from services.threads import thread_order
from services.wire import JsonObject

__all__ = ["SeenChildren"]


@dataclass(slots=True)
class _Seen:
    child: StartedChild
    activities: list[JsonObject] = field(default_factory=list)
    events: list[JsonObject] = field(default_factory=list)


class SeenChildren:
    """Every child of one run, with its activities and, where it has a session, its events."""

    def __init__(self, note: Callable[[str], None]) -> None:
        """Call `note` with a message for each event that breaks the contract's lifecycle."""
        self._note = note
        self._seen: dict[str, _Seen] = {}

    def child_started(self, child: StartedChild) -> None:
        """Record a child from its first event on."""
        seen = self._seen[child.agent_id] = _Seen(child)
        if child.session is None:
            return
        lifecycle = LifecycleChecker()

        def take(event: AgentEvent) -> None:
            seen.events.append(to_wire(event))
            try:
                lifecycle.feed(event)
            except ProtocolViolation as violation:
                self._note(f"lifecycle of {child.agent} on thread {child.thread}: {violation}")

        child.session.subscribe(take)

    def child_activity(self, child: StartedChild, activity: SubagentActivity) -> None:
        """Record an activity."""
        reported: JsonObject = {"type": str(activity.type), "data": activity.data}
        self._seen[child.agent_id].activities.append(reported)

    @property
    def children(self) -> list[ChildObservation]:
        """The children so far, by thread."""
        rows = sorted(self._seen.values(), key=lambda row: thread_order(row.child.thread))
        return [
            ChildObservation(
                thread=row.child.thread,
                agent=row.child.agent,
                agent_id=row.child.agent_id,
                activities=row.activities,
                events=None if row.child.session is None else row.events,
            )
            for row in rows
        ]
