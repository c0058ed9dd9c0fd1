"""`remote_invocation`: one call of a remote agent, for the tool that invokes agents.

Source: core `agents/remote-invocation.ts`.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from services.subagents.definition import DEFAULT_QUERY, RemoteAgentDefinition
from services.subagents.remote.agents import RemoteAgents
from services.subagents.remote.errors import A2AAgentError, RemoteAgentError, told
from services.subagents.remote.progress import beginning, progress, progress_of
from services.subagents.remote.results import ResultReassembler
from services.tools.base import Invocation
from services.tools.contract import (
    ConfirmationDetails,
    InvalidToolParams,
    ToolExecution,
    ToolResult,
)
from services.tools.host import ToolHost
from services.wire import JsonObject

__all__ = ["RemoteAgentInvocation", "RemoteInvocation", "joined", "remote_invocation"]


def remote_invocation(
    definition: RemoteAgentDefinition,
    inputs: JsonObject,
    *,
    agents: RemoteAgents,
    host: ToolHost,
    sessions: bool,
) -> Invocation:
    """One call of a remote agent.

    Args:
        definition: the agent, as it is registered.
        inputs: mapped to the agent's input schema; only `query` is read.
        agents: the session's remote agents.
        host: what tools may use.
        sessions: whether the call goes through a session of the agent's own
            (`experimental.adk.agentSessionSubagentEnabled`).

    Raises:
        InvalidToolParams: `query` is not a string.
    """
    from services.subagents.remote.session_invocation import RemoteSessionInvocation

    query = inputs.get("query", DEFAULT_QUERY)
    # Nothing there reads as nothing given, as an absent key does.
    query = DEFAULT_QUERY if query is None else query
    if not isinstance(query, str):
        raise InvalidToolParams(
            f"Remote agent '{definition.name}' requires a string 'query' input."
        )
    kind = RemoteSessionInvocation if sessions else RemoteAgentInvocation
    return kind(definition, query, agents, host)


def joined(partial: str, error: str) -> str:
    """What the model is told of a call that failed: what there was, then why there is no more."""
    return f"{partial}\n\n{error}" if partial else error


class RemoteInvocation(Invocation):
    """What both ways of calling a remote agent have in common."""

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


class RemoteAgentInvocation(RemoteInvocation):
    """A call that speaks with the agent itself."""

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Ask the agent. Never raises for what the agent does; the result says what went wrong."""
        show = execution.update_output or _nobody
        found = ResultReassembler()
        key = self._definition.name
        conversation = self._agents.conversation(key)
        show(beginning(self.shown_name))
        answered = False
        answer = self._agents.ask(self._definition, self._query, conversation, execution.signal)
        try:
            async with aclosing(answer) as chunks:
                async for chunk in chunks:
                    answered = True
                    found.update(chunk)
                    show(progress_of(self.shown_name, "running", found))
                    conversation = conversation.after(chunk)
            if not answered:
                raise RemoteAgentError("No response from remote agent.")
        except (RemoteAgentError, A2AAgentError) as error:
            text = joined(found.text(), told(error))
            shown = progress(self.shown_name, "error", found.activity(), text)
        else:
            text = found.text()
            shown = progress_of(self.shown_name, "completed", found)
        finally:
            # Also after a failure: the agent may be asked to go on.
            self._agents.keep(key, conversation)
        show(shown)
        return ToolResult(llm_content=[{"text": text}], return_display=shown)


def _nobody(_: Any) -> None:
    """Nobody looks on."""
