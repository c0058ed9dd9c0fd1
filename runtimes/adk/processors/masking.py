"""`ToolOutputMaskingProcessor`: old, bulky tool outputs leave the history for files."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.sessions import GcliSessionService

__all__ = ["ToolOutputMaskingProcessor"]


class ToolOutputMaskingProcessor(BaseLlmRequestProcessor):
    """Masks the history without the pending turn; does nothing where that was done before.

    The archive and the recording get the masked history. The events of the session keep their ids
    and all their other parts.
    """

    name = "tool_output_masking"

    def __init__(self, sessions: GcliSessionService) -> None:
        self._sessions = sessions

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing."""
        session = invocation_context.session
        result = self._sessions.archive(session).mask()
        if result is not None:
            self._sessions.write_back(session, result.changes)
        return
        yield
