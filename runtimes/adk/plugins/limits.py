"""The limit plugins: how many turns, how many tokens and how much time an agent may take.

Each is the service that counts, and an ADK plugin (see `DrivenPlugin`). Where ADK's callbacks call
it, a refused model call becomes an `LlmResponse` with an `error_code`.
"""

from __future__ import annotations

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from runtimes.adk.plugins.driven import DrivenPlugin
from services.abort import AbortController
from services.chat import MAX_TURNS_EXCEEDED, ContextRoom, SessionTurns, TurnLimit
from services.clock import Clock
from services.model.generator import ContentGenerator
from services.model.sdk_contents import wire_of
from services.subagents.deadline import RunTime
from services.wire import JsonObject

__all__ = ["MaxTimeAdkPlugin", "MaxTurnsAdkPlugin", "TokenLimitAdkPlugin"]


class MaxTurnsAdkPlugin(TurnLimit, DrivenPlugin):
    """Refuses turns beyond the limit."""

    def __init__(
        self, limit: int, session: SessionTurns | None = None, *, driven: bool = False
    ) -> None:
        TurnLimit.__init__(self, limit, session)
        DrivenPlugin.__init__(self, "max_turns", driven=driven)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Take the invocation for a send."""
        self.send_started()

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Take the model call for a turn and a request."""
        data = self.turn_started() or self.request_started()
        if data is None:
            return None
        return _refusal(MAX_TURNS_EXCEEDED, "The run ends: max_turns", data)


class TokenLimitAdkPlugin(ContextRoom, DrivenPlugin):
    """Refuses a request that the model's context window has no room for."""

    def __init__(self, generator: ContentGenerator, *, driven: bool = False) -> None:
        ContextRoom.__init__(self, generator)
        DrivenPlugin.__init__(self, "token_limit", driven=driven)
        self._used = 0

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Measure the request's last content against what the last answer's prompt has left."""
        self.room_measured(str(llm_request.model), self._used)
        parts = wire_of(llm_request.contents[-1]).get("parts") if llm_request.contents else None
        signal, prompt_id = AbortController().signal, callback_context.invocation_id
        error = await self.request_measured(parts or [], signal, prompt_id)
        return None if error is None else _refusal("CONTEXT_WINDOW_OVERFLOW", error)

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """Remember how long the prompt was."""
        usage = llm_response.usage_metadata
        if usage is not None and usage.prompt_token_count is not None:
            self._used = usage.prompt_token_count


class MaxTimeAdkPlugin(RunTime, DrivenPlugin):
    """Refuses further turns when the time of the run is up; waiting for the user is free."""

    def __init__(self, clock: Clock, ms: float, *, driven: bool = False) -> None:
        """`ms`: how many milliseconds each run has."""
        RunTime.__init__(self, clock, ms)
        DrivenPlugin.__init__(self, "max_time", driven=driven)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Take the invocation for a run."""
        await self._running.enter_async_context(self.run())

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Refuse the model call when the time is up."""
        if not self.signal.aborted:
            return None
        return _refusal("MAX_TIME_EXCEEDED", "The run ends: max_time")


def _refusal(code: str, message: str, data: JsonObject | None = None) -> LlmResponse:
    return LlmResponse(
        error_code=code, error_message=message, custom_metadata=data, turn_complete=True
    )
