"""`AdkChild`: a child's session, whose runs are agents on ADK."""

from __future__ import annotations

from collections.abc import Callable

from runtimes.adk.agent import AdkAgentProtocol
from runtimes.adk.child.termination import ChildTermination
from services.abort import AbortSignal
from services.background import BackgroundTasks
from services.bundle import Services
from services.children.child_services import ChildServices
from services.children.session import ChildSession
from services.subagents.child import ChildRequest
from services.subagents.definition import AgentOutput
from services.wire import JsonObject

__all__ = ["AdkChild", "ChildAgentFactory"]

ChildAgentFactory = Callable[[ChildServices], tuple[ChildTermination, AdkAgentProtocol]]
"""Makes what runs a child's task, and the agent that does its turns."""


class AdkChild(ChildSession):
    """One child; a run has a Runner, a session service and a conversation of its own."""

    def __init__(
        self,
        parent: Services,
        request: ChildRequest,
        tasks: BackgroundTasks,
        running: set[ChildSession],
        make_agent: ChildAgentFactory,
    ) -> None:
        super().__init__(parent, request, tasks, running)
        self._make_agent = make_agent

    async def _run(self, inputs: JsonObject, signal: AbortSignal) -> AgentOutput:
        termination, agent = self._make_agent(self._child)
        try:
            return await termination.drive(inputs, signal, agent.invoke)
        finally:
            await agent.close()
