"""Reports the published core's child agents to the session's observers, as ours are reported."""

from __future__ import annotations

from collections.abc import Sequence

from agent_protocol.agent import AgentSend, Subscriber, Unsubscribe
from agent_protocol.codec import from_wire
from agent_protocol.errors import UnsupportedSend
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent
from runtimes.upstream.connection import Connection
from services.subagents.activity import ActivityType, OnActivity, SubagentActivity
from services.subagents.child import StartedChild
from services.subagents.subagents import Subagents
from services.threads import ThreadPaths
from services.wire import JsonObject

__all__ = ["Children"]


class _ChildSession:
    """A child's session to observe. The core alone drives it."""

    def __init__(self) -> None:
        self.log = EventLog()

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self.log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self.log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """Refuse.

        Raises:
            UnsupportedSend: always.
        """
        raise UnsupportedSend("the core alone sends to its child agents")

    async def abort(self) -> None:
        """Do nothing: a child ends with its call."""


class Children:
    """Passes the driver's messages about child agents on to the session's observers."""

    def __init__(self, connection: Connection, subagents: Subagents, threads: ThreadPaths) -> None:
        """`threads` knows the thread of each request to the model."""
        self._subagents = subagents
        self._threads = threads
        self._observers: dict[str, OnActivity] = {}
        self._sessions: dict[str, _ChildSession] = {}
        connection.handlers.update(
            child=self._on_child, activity=self._on_activity, childEvent=self._on_event
        )

    def _on_child(self, message: JsonObject) -> None:
        agent_id, agent = str(message["agentId"]), str(message["agent"])
        self._threads.child(message["call"])  # its first request may be a utility model's
        session = _ChildSession() if message["session"] else None
        if session is not None:
            self._sessions[agent_id] = session
        started = StartedChild(
            thread=self._subagents.threads.child(message["call"]),
            agent=agent,
            agent_id=agent_id,
            session=session,
        )
        self._observers[agent_id] = self._subagents.seen(started)

    def _on_activity(self, message: JsonObject) -> None:
        report = self._observers[message["agentId"]]
        kind = ActivityType(message["type"])
        report(SubagentActivity(type=kind, data=message["data"]))

    def _on_event(self, message: JsonObject) -> None:
        self._sessions[message["agentId"]].log.emit([from_wire(message["event"])])
