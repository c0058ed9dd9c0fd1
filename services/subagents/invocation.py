"""`LocalSubagentInvocation`: an agent run directly; everything it does stays in the list.

Source: core `agents/local-invocation.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from services.subagents.child import ChildAgent
from services.subagents.child_run import LocalInvocation

__all__ = ["LocalSubagentInvocation"]


class LocalSubagentInvocation(LocalInvocation):
    """Runs with `experimental.adk.agentSessionSubagentEnabled` off. Tells the agent's id."""

    newest: ClassVar[int | None] = None
    typed: ClassVar[bool] = False

    async def begin(self, child: ChildAgent) -> None:
        """Start `child` with the inputs as they are."""
        await child.start(self.params)

    def data(self, child: ChildAgent | None) -> Mapping[str, Any] | None:
        """The agent's id, where there is an agent."""
        return None if child is None else {"agentId": child.agent_id}
