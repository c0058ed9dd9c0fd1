"""Calls of remote agents, for the tool that invokes agents.

Source: core `agents/remote-invocation.ts`, `agents/remote-session-invocation.ts`.
"""

from __future__ import annotations

from contextlib import aclosing

from agent_protocol.agent import MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent, Message
from services.background import background_tasks
from services.subagents.definition import DEFAULT_QUERY, RemoteAgentDefinition
from services.subagents.remote.agents import RemoteAgents, conversation_key
from services.subagents.remote.errors import (
    AgentConnectionError,
    RemoteAgentError,
    TaskCancelled,
    failure_text,
)
from services.subagents.remote.progress import beginning, progress, progress_of, stopped
from services.subagents.remote.protocol import RemoteSubagentProtocol
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

__all__ = ["remote_invocation"]


def remote_invocation(
    definition: RemoteAgentDefinition,
    inputs: JsonObject,
    *,
    agents: RemoteAgents,
    host: ToolHost,
    sessions: bool,
) -> Invocation:
    """Make one call of a remote agent.

    Args:
        definition: the registered agent.
        inputs: the agent's inputs; only `query` is read.
        agents: the session's remote agents.
        host: the parts of the session for tools.
        sessions: whether the call uses a session of the agent's own
            (`experimental.adk.agentSessionSubagentEnabled`).

    Raises:
        InvalidToolParams: `query` is not a string.
    """
    query = inputs.get("query", DEFAULT_QUERY)
    # Null counts as absent.
    query = DEFAULT_QUERY if query is None else query
    if not isinstance(query, str):
        raise InvalidToolParams(
            f"Remote agent '{definition.name}' requires a string 'query' input."
        )
    kind = RemoteSessionInvocation if sessions else RemoteAgentInvocation
    return kind(definition, query, agents, host)


class RemoteInvocation(Invocation):
    """A call of one agent with one query."""

    def __init__(
        self, definition: RemoteAgentDefinition, query: str, agents: RemoteAgents, host: ToolHost
    ) -> None:
        super().__init__(host, {"query": query})
        self._definition = definition
        self._query = query
        self._agents = agents

    @property
    def shown_name(self) -> str:
        """The agent's display name."""
        return self._definition.shown_name

    def description(self) -> str:
        """Describe the call in one line."""
        return f"Calling remote agent {self.shown_name}"

    def confirmation_details(self) -> ConfirmationDetails:
        """Return the confirmation, because the query leaves the machine."""
        return ConfirmationDetails(
            type="info",
            title=f"Call Remote Agent: {self.shown_name}",
            fields={"prompt": f'Calling remote agent: "{self._query}"'},
        )


class RemoteAgentInvocation(RemoteInvocation):
    """A call without a session."""

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Send the query. A failure of the agent is part of the result."""
        show = execution.update_output or (lambda _: None)
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
        except (RemoteAgentError, AgentConnectionError) as error:
            if isinstance(error, TaskCancelled):
                conversation = conversation.without_task()
            text = _joined(found.text(), failure_text(error))
            shown = progress(self.shown_name, "error", found.activity(), text)
        else:
            text = found.text()
            shown = progress_of(self.shown_name, "completed", found)
        finally:
            # Also after a failure, because a later call can continue the task.
            self._agents.keep(key, conversation)
        show(shown)
        return ToolResult(llm_content=[{"text": text}], return_display=shown)


class RemoteSessionInvocation(RemoteInvocation):
    """A call through a session of the agent."""

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Send the query. A failure of the agent is part of the result."""
        key = conversation_key(self._definition)
        async with background_tasks() as tasks:
            session = RemoteSubagentProtocol(
                self._definition, self._agents, tasks, self._agents.conversation(key)
            )
            try:
                return await self._through(session, execution)
            finally:
                # Also after a failure, because a later call can continue the task.
                self._agents.keep(key, session.conversation)
                await session.abort()

    async def _through(
        self, session: RemoteSubagentProtocol, execution: ToolExecution
    ) -> ToolResult:
        show = execution.update_output

        def look(event: AgentEvent) -> None:
            if isinstance(event, Message) and show is not None and session.latest_progress:
                show(session.latest_progress)

        session.subscribe(look)
        if show is not None:
            show(beginning(self.shown_name))
        await session.send(MessageSend(content=(TextPart(text=self._query),)))
        off = execution.signal.on_abort(session.stop)
        try:
            result = await session.result()
        except (AgentConnectionError, RemoteAgentError) as error:
            return self._failed(session, execution, error)
        finally:
            off()
        if execution.signal.aborted:
            return self._ended(
                session, execution, "cancelled", _partial(session), "Operation cancelled by user"
            )
        if show is not None and session.latest_progress is not None:
            show(session.latest_progress)
        return result

    def _failed(
        self, session: RemoteSubagentProtocol, execution: ToolExecution, error: Exception
    ) -> ToolResult:
        message = failure_text(error)
        text = _joined(_partial(session), message)
        state = "cancelled" if "Aborted" in message else "error"
        return self._ended(session, execution, state, text, text)

    def _ended(
        self,
        session: RemoteSubagentProtocol,
        execution: ToolExecution,
        state: str,
        shown_text: str,
        text: str,
    ) -> ToolResult:
        latest = session.latest_progress or {}
        activity = stopped(latest.get("recentActivity") or [], state)
        shown = progress(self.shown_name, state, activity, shown_text)
        if execution.update_output is not None:
            execution.update_output(shown)
        return ToolResult(llm_content=[{"text": text}], return_display=shown)


def _partial(session: RemoteSubagentProtocol) -> str:
    found = (session.latest_progress or {}).get("result")
    return found if isinstance(found, str) else ""


def _joined(partial: str, error: str) -> str:
    """Return the text of a failed call for the model: the partial response, then the error."""
    return f"{partial}\n\n{error}" if partial else error
