"""`AdkChild`: a child's agent with what a task has beyond a protocol: an id, inputs, a result."""

from __future__ import annotations

from collections.abc import Sequence

from agent_protocol.agent import AgentSend, MessageSend, Subscriber, Unsubscribe, UpdateSend
from agent_protocol.events import AgentEvent
from runtimes.adk.agent import AdkAgentProtocol
from runtimes.adk.child.handler import ChildHandler
from services.subagents.child import ChildAgent
from services.subagents.definition import AgentOutput
from services.wire import JsonObject

__all__ = ["AdkChild"]


class AdkChild(ChildAgent):
    """One child's session."""

    def __init__(self, agent_id: str, agent: AdkAgentProtocol, handler: ChildHandler) -> None:
        self._agent_id = agent_id
        self._agent = agent
        self._handler = handler

    @property
    def agent_id(self) -> str:
        """Its id, which is its session's and its recording's too."""
        return self._agent_id

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._agent.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._agent.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """Take inputs, or start the stream; see `ChildHandler.take`."""
        return await self._agent.send(payload)

    async def start(self, inputs: JsonObject) -> None:
        """Start the stream with `inputs` as they are."""
        await self._agent.send(UpdateSend(config=inputs))
        await self._agent.send(MessageSend(content=()))

    async def abort(self) -> None:
        """Ask the run to end; `result` comes once it has."""
        self.stop()

    def stop(self) -> None:
        """The same, at once."""
        if self._handler.sent is not None:
            self._handler.sent.stream.controller.abort()

    async def close(self) -> None:
        """Let go of what it holds; one that has run does so by itself. It must be idle."""
        await self._agent.close()

    async def result(self) -> AgentOutput:
        """What came of the run, once nothing of it runs any more; raises what it raised.

        Raises:
            RuntimeError: nothing was sent.
        """
        if self._handler.sent is None:
            raise RuntimeError("No active or completed stream")
        return await self._handler.sent.result()
