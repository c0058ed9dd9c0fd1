"""Refuses a request that cannot fit into the model's context window."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.notes import Stopped
from runtimes.adk.processors.base import stop
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services
from services.model.limits import token_limit
from services.model.names import resolve_model
from services.model.tokens import request_token_count

__all__ = ["OverflowProcessor"]


class OverflowProcessor(BaseLlmRequestProcessor):
    """Compares the pending turn's size with what the last prompt left free."""

    name = "context_overflow"

    def __init__(self, services: Services, sessions: GcliSessionService, link: RunLink) -> None:
        self._services = services
        self._sessions = sessions
        self._link = link

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing, or the event that ends the run."""
        services, run = self._services, self._link.run
        conversation = self._sessions.archive(invocation_context.session)
        model = services.state.sequence_model or resolve_model(
            services.state.active_model, services.models.access
        )
        remaining = token_limit(model) - conversation.last_prompt_token_count
        estimated = await request_token_count(
            self._sessions.pending_parts(invocation_context.session),
            services.content_generator,
            model,
            signal=run.signal,
            prompt_id=run.prompt_id,
        )
        if estimated > remaining:
            stopped = Stopped(
                reason="failed",
                status="RESOURCE_EXHAUSTED",
                error=(
                    f"Context window will overflow (estimated: {estimated}, remaining: {remaining})"
                ),
            )
            yield stop(invocation_context, self._sessions, stopped)
