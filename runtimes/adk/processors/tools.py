"""The request's tools, declared for the model it was routed to.

Takes the place of ADK's `agent_tools`, which would resolve and declare every tool anew per step.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.tools._agent_tools import process_agent_tools
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.run import RunLink
from runtimes.adk.tools import Toolbox

__all__ = ["ToolsProcessor"]


class ToolsProcessor(BaseLlmRequestProcessor):
    """Fills the request's tools and its table of them."""

    name = "agent_tools"

    def __init__(
        self,
        tools: Toolbox,
        link: RunLink,
        begin: Callable[[InvocationContext, LlmRequest], None] | None = None,
    ) -> None:
        """Make it. `begin` gets the context and the request of every step."""
        self._tools = tools
        self._link = link
        self._begin = begin

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing."""
        base = self._link.run.step.base
        base.write_tools(llm_request, self._tools.declared(base.model or ""))
        # Declares the agent's own tools; where there are none, ADK need not look for each chunk.
        await process_agent_tools(invocation_context, llm_request)
        if self._begin is not None:
            self._begin(invocation_context, llm_request)
        return
        yield
