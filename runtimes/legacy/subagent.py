"""`LegacyChildAgent`: a child's session on this engine."""

from __future__ import annotations

from runtimes.legacy.executor import LocalAgentExecutor
from services.abort import AbortSignal
from services.children.session import ChildSession
from services.subagents.definition import AgentOutput
from services.wire import JsonObject

__all__ = ["LegacyChildAgent"]


class LegacyChildAgent(ChildSession):
    """A child whose runs have an executor each."""

    async def _run(self, inputs: JsonObject, signal: AbortSignal) -> AgentOutput:
        return await LocalAgentExecutor(self._child).run(inputs, signal)
