"""What both ways of calling a remote agent have in common.

Source: core `agents/remote-invocation.ts`, `agents/remote-session-invocation.ts`.
"""

from __future__ import annotations

from services.subagents.definition import RemoteAgentDefinition
from services.subagents.remote.agents import RemoteAgents
from services.tools.base import Invocation
from services.tools.contract import ConfirmationDetails
from services.tools.host import ToolHost

__all__ = ["RemoteInvocation", "joined"]


def joined(partial: str, error: str) -> str:
    """What the model is told of a call that failed: what there was, then why there is no more."""
    return f"{partial}\n\n{error}" if partial else error


class RemoteInvocation(Invocation):
    """A call of one agent with one query; subclasses make it."""

    def __init__(
        self, definition: RemoteAgentDefinition, query: str, agents: RemoteAgents, host: ToolHost
    ) -> None:
        super().__init__(host, {"query": query})
        self._definition = definition
        self._query = query
        self._agents = agents

    @property
    def shown_name(self) -> str:
        """The agent's name for people."""
        return self._definition.shown_name

    def description(self) -> str:
        """Which agent is called."""
        return f"Calling remote agent {self.shown_name}"

    def confirmation_details(self) -> ConfirmationDetails:
        """Always asked: what is sent leaves the machine."""
        return ConfirmationDetails(
            type="info",
            title=f"Call Remote Agent: {self.shown_name}",
            fields={"prompt": f'Calling remote agent: "{self._query}"'},
        )
