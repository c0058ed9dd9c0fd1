"""The limits, first of all processors: may there be another model turn?

Two limits count differently, as upstream's do. The agent loop's own counts the model turns of one
send and reads 0 as "none"; the client's counts over the conversation's life and reads 0 as "no
limit".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.notes import Stopped
from runtimes.adk.processors.base import stop
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services

__all__ = ["LIMIT_PLUGINS", "LimitsProcessor"]

LIMIT_PLUGINS: Final = ("MaxTurnsAdkPlugin", "TokenLimitAdkPlugin", "MaxTimeAdkPlugin")
"""The names under which the replatforming plan lists what this one processor does."""

_CODE: Final = "MAX_TURNS_EXCEEDED"


class LimitsProcessor(BaseLlmRequestProcessor):
    """Counts a model turn in, or ends the run."""

    name = "limits"

    def __init__(self, services: Services, sessions: GcliSessionService, link: RunLink) -> None:
        self._services = services
        self._sessions = sessions
        self._link = link

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing, or the event that ends the run."""
        if invocation_context.end_invocation:
            return
        stopped = self._count(invocation_context)
        if stopped is not None:
            yield stop(invocation_context, self._sessions, stopped)

    def _count(self, context: InvocationContext) -> Stopped | None:
        run, limit = self._link.run, self._services.settings.max_session_turns
        run.next_step()
        run.turns += 1
        if 0 <= limit < run.turns:
            data = {"code": _CODE, "maxTurns": limit, "turnCount": run.turns - 1}
            return Stopped(reason="max_turns", data=data, whatever_happens=True)
        conversation = self._sessions.archive(context.session)
        if conversation.last_prompt_id != run.prompt_id:
            conversation.last_prompt_id = run.prompt_id
            self._services.state.sequence_model = None
        conversation.session_turns += 1
        if 0 < limit < conversation.session_turns:
            return Stopped(reason="max_turns", data={"code": _CODE})
        return None
