"""The loop detector's look at a turn before its request is made."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.processors.base import leave
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService

__all__ = ["LoopCheckProcessor"]


class LoopCheckProcessor(BaseLlmRequestProcessor):
    """Ends the invocation where the prompt is in a loop, as a model sees it now and then."""

    name = "loop_check"

    def __init__(self, sessions: GcliSessionService, link: RunLink) -> None:
        self._sessions = sessions
        self._link = link

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing; `Step.loop` says what was found."""
        run = self._link.run
        loops = self._sessions.archive(invocation_context.session).loops
        verdict = await loops.turn_started(run.signal)
        if verdict.count:
            run.step.loop = verdict
            leave(invocation_context, self._sessions)
        return
        yield
