"""Summarises a long history before a request is made on it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.notes import Compressed
from runtimes.adk.plugins.limits import TokenLimitAdkPlugin
from runtimes.adk.processors.base import EngineProcessor, note_event
from runtimes.adk.replacing import compress, model_for_limits
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService
from services.bundle import Services
from services.compression.service import CompressionStatus

__all__ = ["CompressionProcessor"]


class CompressionProcessor(EngineProcessor):
    """Compresses what stands before the pending turn, and measures the room that is left then."""

    name = "compression"

    def __init__(
        self,
        services: Services,
        sessions: GcliSessionService,
        link: RunLink,
        token_limit: TokenLimitAdkPlugin,
    ) -> None:
        super().__init__(services, sessions, link)
        self._token_limit = token_limit

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield an event where the history was summarised."""
        services, run = self._services, self._link.run
        conversation = self._sessions.archive(invocation_context.session)
        model = model_for_limits(services)
        if not services.settings.context_management:
            info = await compress(services, conversation, run.prompt_id, run.signal)
            if info.status is CompressionStatus.COMPRESSED:
                yield note_event(invocation_context, Compressed(info), partial=True)
        self._token_limit.room_measured(model, conversation.last_prompt_token_count)
