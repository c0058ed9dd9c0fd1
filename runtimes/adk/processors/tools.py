"""The request's tools, declared for the model it was routed to.

Takes the place of ADK's `agent_tools`, which would resolve and declare every tool anew per step.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.run import RunLink
from runtimes.adk.tools import Toolbox

__all__ = ["ToolsProcessor"]


class ToolsProcessor(BaseLlmRequestProcessor):
    """Fills the request's tools and its table of them."""

    name = "agent_tools"

    def __init__(self, tools: Toolbox, link: RunLink) -> None:
        self._tools = tools
        self._link = link

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing."""
        base = self._link.run.step.base
        base.write_tools(llm_request, self._tools.declared(base.model or ""))
        # Else ADK resolves the agent's own, empty, list of tools for every chunk.
        invocation_context.canonical_tools_cache = []
        return
        yield
