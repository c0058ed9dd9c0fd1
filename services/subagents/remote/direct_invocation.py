"""`RemoteAgentInvocation`: a call of a remote agent without a session in between.

Source: core `agents/remote-invocation.ts`.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from services.subagents.remote.call import RemoteInvocation, joined
from services.subagents.remote.errors import (
    A2AAgentError,
    RemoteAgentError,
    TaskCancelled,
    told,
)
from services.subagents.remote.progress import beginning, progress, progress_of
from services.subagents.remote.results import ResultReassembler
from services.tools.contract import ToolExecution, ToolResult

__all__ = ["RemoteAgentInvocation"]


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
            if isinstance(error, TaskCancelled):
                conversation = conversation.without_task()
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
