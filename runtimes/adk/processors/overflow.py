"""Refuses a request that cannot fit into the model's context window."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.plugins.limits import TokenLimitAdkPlugin
from runtimes.adk.processors.base import stop
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService

__all__ = ["OverflowProcessor"]


class OverflowProcessor(BaseLlmRequestProcessor):
    """Has `TokenLimitAdkPlugin` measure the pending turn, after compression."""

    name = "context_overflow"

    def __init__(
        self, sessions: GcliSessionService, link: RunLink, token_limit: TokenLimitAdkPlugin
    ) -> None:
        self._sessions = sessions
        self._link = link
        self._token_limit = token_limit

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing, or the event that ends the run."""
        run, session = self._link.run, invocation_context.session
        stopped = await self._token_limit.request_measured(
            self._sessions.pending_parts(session), run.signal, run.prompt_id
        )
        if stopped is not None:
            yield stop(invocation_context, self._sessions, stopped)
