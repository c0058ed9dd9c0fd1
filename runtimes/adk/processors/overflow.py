"""Refuses a request that cannot fit into the model's context window."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.notes import Stopped
from runtimes.adk.processors.base import EngineProcessor, stop
from services.model.tokens import request_token_count

__all__ = ["OverflowProcessor"]


class OverflowProcessor(EngineProcessor):
    """Compares the pending turn's size with what the last prompt left free."""

    name = "context_overflow"

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing, or the event that ends the run."""
        run, remaining = self._link.run, self._link.run.step.room
        estimated = await request_token_count(
            self._sessions.pending_parts(invocation_context.session),
            self._services.content_generator,
            run.step.limit_model,
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
