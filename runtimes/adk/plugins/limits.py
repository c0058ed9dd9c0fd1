"""The limit plugins: how many turns, how many tokens and how much time an agent may take.

Each plugin owns its count and its rule (see `DrivenPlugin`). In an `App` of another kind, a refused
model call becomes an `LlmResponse` with an `error_code`.

Source: core `core/client.ts`, `agent/legacy-agent-session.ts`, `agents/local-executor.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from runtimes.adk.notes import Stopped, wire_of
from runtimes.adk.plugins.driven import DrivenPlugin
from services.abort import AbortController, AbortSignal
from services.chat import MAX_TURNS_EXCEEDED
from services.clock import Clock
from services.model.generator import ContentGenerator
from services.model.limits import token_limit
from services.model.tokens import request_token_count
from services.subagents.deadline import RunTime
from services.wire import Part

__all__ = ["MaxTimeAdkPlugin", "MaxTurnsAdkPlugin", "SessionTurns", "TokenLimitAdkPlugin"]


@dataclass(slots=True)
class SessionTurns:
    """How many requests the agents of one session have made; a reset does not clear it."""

    count: int = 0


class MaxTurnsAdkPlugin(DrivenPlugin):
    """Counts turns, and refuses those beyond the limit.

    The published core counts the turns of one send, where a limit of 0 allows none, and the
    requests of the session, where 0 means no limit. A negative limit means no limit.
    """

    def __init__(
        self, limit: int, session: SessionTurns | None = None, *, driven: bool = False
    ) -> None:
        super().__init__("max_turns", driven=driven)
        self._limit = limit
        self._session = session or SessionTurns()
        self.turns = 0
        """The turns that the send has begun."""

    @property
    def exhausted(self) -> bool:
        """Whether the send has had all its turns."""
        return 0 <= self._limit <= self.turns

    def send_started(self) -> None:
        """Start to count the turns of another send."""
        self.turns = 0

    def turn_started(self) -> Stopped | None:
        """Count a turn of the send, or return why there is none."""
        if self.exhausted:
            data = {"code": MAX_TURNS_EXCEEDED, "maxTurns": self._limit, "turnCount": self.turns}
            return Stopped(reason="max_turns", data=data, whatever_happens=True)
        self.turns += 1
        return None

    def request_started(self) -> Stopped | None:
        """Count a request of the session, and return why it is not made if it is one too many."""
        self._session.count += 1
        if 0 < self._limit < self._session.count:
            return Stopped(reason="max_turns", data={"code": MAX_TURNS_EXCEEDED})
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Take the invocation for a send."""
        self.send_started()

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Take the model call for a turn and a request."""
        return _refusal(MAX_TURNS_EXCEEDED, self.turn_started() or self.request_started())


class TokenLimitAdkPlugin(DrivenPlugin):
    """Refuses a request that the model's context window has no room for."""

    def __init__(self, generator: ContentGenerator, *, driven: bool = False) -> None:
        """`generator` counts the tokens of media; those of other parts are estimated."""
        super().__init__("token_limit", driven=driven)
        self._generator = generator
        self._model = ""
        self._room = 0
        self._used = 0

    def room_measured(self, model: str, used: int) -> None:
        """Take the room that `model`'s window has beside the `used` tokens of the last prompt."""
        self._model = model
        self._room = token_limit(model) - used

    async def request_measured(
        self, parts: list[Part], signal: AbortSignal, prompt_id: str
    ) -> Stopped | None:
        """Return why a request with `parts` is not made, if the room does not suffice."""
        estimated = await request_token_count(
            parts, self._generator, self._model, signal=signal, prompt_id=prompt_id
        )
        if estimated > self._room:
            what = f"(estimated: {estimated}, remaining: {self._room})"
            error = f"Context window will overflow {what}"
            return Stopped(reason="failed", status="RESOURCE_EXHAUSTED", error=error)
        return None

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Measure the request's last content against what the last answer's prompt has left."""
        self.room_measured(llm_request.model or "", self._used)
        parts = wire_of(llm_request.contents[-1]).get("parts") if llm_request.contents else None
        signal, prompt_id = AbortController().signal, callback_context.invocation_id
        stopped = await self.request_measured(parts or [], signal, prompt_id)
        return _refusal("CONTEXT_WINDOW_OVERFLOW", stopped)

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
        stopped = Stopped(reason="max_time") if self.signal.aborted else None
        return _refusal("MAX_TIME_EXCEEDED", stopped)


def _refusal(code: str, stopped: Stopped | None) -> LlmResponse | None:
    if stopped is None:
        return None
    return LlmResponse(
        error_code=code,
        error_message=stopped.error or f"The run ends: {stopped.reason}",
        custom_metadata=dict(stopped.data or {}) or None,
        turn_complete=True,
    )
