"""`RemoteSessionInvocation`: a call of a remote agent through a session of the agent's own.

Source: core `agents/remote-session-invocation.ts`.
"""

from __future__ import annotations

from agent_protocol.agent import MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent, Message
from services.background import background_tasks
from services.subagents.remote.agents import conversation_key
from services.subagents.remote.call import RemoteInvocation, joined
from services.subagents.remote.errors import A2AAgentError, RemoteAgentError, told
from services.subagents.remote.progress import beginning, progress, stopped
from services.subagents.remote.protocol import RemoteSubagentProtocol
from services.tools.contract import ToolExecution, ToolResult

__all__ = ["RemoteSessionInvocation"]


class RemoteSessionInvocation(RemoteInvocation):
    """A call whose agent tells events."""

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Ask the agent. Never raises for what the agent does; the result says what went wrong."""
        key = conversation_key(self._definition)
        async with background_tasks() as tasks:
            session = RemoteSubagentProtocol(
                self._definition, self._agents, tasks, self._agents.conversation(key)
            )
            try:
                return await self._through(session, execution)
            finally:
                # Also after a failure: the agent may be asked to go on.
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
        except (A2AAgentError, RemoteAgentError) as error:
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
        message = told(error)
        text = joined(_partial(session), message)
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
