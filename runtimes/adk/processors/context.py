"""What keeps a request within the model's context window, in the order of `PROCESSOR_ORDER`."""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.plugins.limits import TokenLimitAdkPlugin
from runtimes.adk.processors.base import EngineProcessor, note_event
from runtimes.adk.run import Run
from services.compression.service import CompressionStatus

__all__ = ["CompressionProcessor", "OverflowProcessor", "ToolOutputMaskingProcessor"]


@dataclass(eq=False)
class CompressionProcessor(EngineProcessor):
    """Summarises what stands before the pending turn, and measures the room that is left then."""

    _token_limit: TokenLimitAdkPlugin
    name = "compression"

    async def _step(
        self, context: InvocationContext, run: Run, request: LlmRequest
    ) -> Event | None:
        event = None
        conversation = self._conversation
        model = conversation.model_for_limits
        if not self._services.settings.context_management:
            info = await conversation.compress(run.prompt_id, run.signal)
            if info.status is CompressionStatus.COMPRESSED:
                event = note_event(context, info, partial=True)
        self._token_limit.room_measured(model, conversation.last_prompt_token_count)
        return event


class ToolOutputMaskingProcessor(EngineProcessor):
    """Puts files in place of old, bulky tool outputs of the history without the pending turn.

    The archive and the recording get the masked history. The events of the session keep their ids
    and all their other parts.
    """

    name = "tool_output_masking"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        result = self._conversation.mask()
        if result is not None:
            self._sessions.write_back(context.session, result.changes)


@dataclass(eq=False)
class OverflowProcessor(EngineProcessor):
    """Has `TokenLimitAdkPlugin` measure the pending turn; ends the run where there is no room."""

    _token_limit: TokenLimitAdkPlugin
    name = "context_overflow"

    async def _step(
        self, context: InvocationContext, run: Run, request: LlmRequest
    ) -> Event | None:
        parts = self._sessions.pending_parts(context.session)
        stopped = await self._token_limit.request_measured(parts, run.signal, run.prompt_id)
        return None if stopped is None else self._stop(context, stopped)
