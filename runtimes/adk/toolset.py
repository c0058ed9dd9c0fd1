"""`SessionToolset`: the product's tools as a toolset of the `LlmAgent`."""

from __future__ import annotations

from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.tool_context import ToolContext

from runtimes.adk.run import RunLink
from runtimes.adk.tools import Toolbox

__all__ = ["SessionToolset"]


class SessionToolset(BaseToolset):
    """The tools that fit the approval mode and the model of the request under way.

    Plan mode has other tools than the other modes, and describes some of them in other words. It
    begins and ends between two steps of one invocation, so ADK must not keep the tools for the
    whole invocation.
    """

    def __init__(self, tools: Toolbox, link: RunLink) -> None:
        super().__init__()
        self._use_invocation_cache = False
        self._tools = tools
        self._link = link

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """The tools that the request under way declares.

        Raises:
            RuntimeError: no send is under way.
        """
        return [*self._tools.declared(self._link.run.step.base.model).by_name.values()]

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Declare all of them at once, before the tools of others."""
        self.declare(llm_request)

    def declare(self, request: LlmRequest) -> None:
        """Write the tools into the request, and into its table of tools."""
        base = self._link.run.step.base
        base.write_tools(request, self._tools.declared(base.model))
