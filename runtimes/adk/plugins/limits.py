"""The limit plugins: how many turns, how many tokens and how much time an agent may take.

Each plugin owns its count and its rule. With `driven=True` the runtime calls the documented methods
at the published core's moments, as ADK has no callback for some of them, and ADK's callbacks do
nothing. Otherwise ADK's callbacks call the same methods: in any `App`, a refused model call becomes
an `LlmResponse` with an `error_code`.

Source: core `core/client.ts`, `agent/legacy-agent-session.ts`, `agents/local-executor.ts`.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.notes import Stopped
from services.abort import AbortController, AbortSignal
from services.chat import MAX_TURNS_EXCEEDED
from services.clock import Clock
from services.model.generator import ContentGenerator
from services.model.limits import token_limit
from services.model.sdk_contents import wire_of
from services.model.tokens import request_token_count
from services.subagents.deadline import RunTime
from services.wire import Part

__all__ = [
    "MAX_TURNS_EXCEEDED",
    "MaxTimeAdkPlugin",
    "MaxTurnsAdkPlugin",
    "SessionTurns",
    "TokenLimitAdkPlugin",
]

_MAX_TIME_EXCEEDED: Final = "MAX_TIME_EXCEEDED"
_CONTEXT_OVERFLOW: Final = "CONTEXT_WINDOW_OVERFLOW"


@dataclass(slots=True)
class SessionTurns:
    """The client's count of model requests, which the agents of one session share.

    A reset of the conversation does not clear it.
    """

    count: int = 0


class MaxTurnsAdkPlugin(BasePlugin):
    """Counts turns, and refuses those beyond the limit.

    The published core counts three things: the turns of one send, where a limit of 0 allows none;
    the requests of the session, where 0 means no limit; and the requests that follow one turn
    without the user. A negative limit means no limit.
    """

    def __init__(
        self, limit: int, session: SessionTurns | None = None, *, driven: bool = False
    ) -> None:
        super().__init__(name="max_turns")
        self.driven = driven
        self._limit = limit
        self._session = session or SessionTurns()
        self._turns = 0

    @property
    def turns(self) -> int:
        """The turns that the send has begun."""
        return self._turns

    @property
    def exhausted(self) -> bool:
        """Whether the send has had all its turns."""
        return 0 <= self._limit <= self._turns

    def send_started(self) -> None:
        """Start to count the turns of another send."""
        self._turns = 0

    def turn_started(self) -> Stopped | None:
        """Count a turn of the send, or return why there is none."""
        if self.exhausted:
            data = {"code": MAX_TURNS_EXCEEDED, "maxTurns": self._limit, "turnCount": self._turns}
            return Stopped(reason="max_turns", data=data, whatever_happens=True)
        self._turns += 1
        return None

    def request_started(self) -> Stopped | None:
        """Count a request of the session, and return why it is not made if it is one too many."""
        self._session.count += 1
        if 0 < self._limit < self._session.count:
            return Stopped(reason="max_turns", data={"code": MAX_TURNS_EXCEEDED})
        return None

    @staticmethod
    def may_follow(left: int) -> bool:
        """Whether a request may be made without the user when `left` more are allowed."""
        return left > 0

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Take the invocation for a send."""
        if not self.driven:
            self.send_started()

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Take the model call for a turn and a request."""
        if self.driven:
            return None
        stopped = self.turn_started() or self.request_started()
        return None if stopped is None else _refusal(MAX_TURNS_EXCEEDED, stopped)


class TokenLimitAdkPlugin(BasePlugin):
    """Refuses a request that the model's context window has no room for."""

    def __init__(self, generator: ContentGenerator, *, driven: bool = False) -> None:
        """`generator` counts the tokens of media; those of other parts are estimated."""
        super().__init__(name="token_limit")
        self.driven = driven
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
        if self.driven:
            return None
        self.room_measured(llm_request.model or "", self._used)
        parts = wire_of(llm_request.contents[-1]).get("parts") if llm_request.contents else None
        signal, prompt_id = AbortController().signal, callback_context.invocation_id
        stopped = await self.request_measured(parts or [], signal, prompt_id)
        return None if stopped is None else _refusal(_CONTEXT_OVERFLOW, stopped)

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """Remember how long the prompt was."""
        usage = llm_response.usage_metadata
        if not self.driven and usage is not None and usage.prompt_token_count is not None:
            self._used = usage.prompt_token_count


class MaxTimeAdkPlugin(RunTime, BasePlugin):
    """Refuses further turns when the time of the run is up; waiting for the user is free."""

    def __init__(self, clock: Clock, ms: float, *, driven: bool = False) -> None:
        """`ms`: how many milliseconds each run has."""
        RunTime.__init__(self, clock, ms)
        BasePlugin.__init__(self, name="max_time")
        self.driven = driven
        self._running = AsyncExitStack()

    @property
    def time_is_up(self) -> bool:
        """Whether no turn may begin any more."""
        return self.signal.aborted

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Take the invocation for a run."""
        if not self.driven:
            await self._running.enter_async_context(self.run())

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Refuse the model call when the time is up."""
        if self.driven or not self.time_is_up:
            return None
        return _refusal(_MAX_TIME_EXCEEDED, Stopped(reason="max_time"))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Stop the time of a run that has ended."""
        if not self.driven:
            await self._running.aclose()

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Stop the time of a run that has failed."""
        if not self.driven:
            await self._running.aclose()

    async def close(self) -> None:
        """Stop what still runs."""
        await self._running.aclose()


def _refusal(code: str, stopped: Stopped) -> LlmResponse:
    return LlmResponse(
        error_code=code,
        error_message=stopped.error or f"The run ends: {stopped.reason}",
        custom_metadata=dict(stopped.data or {}) or None,
        turn_complete=True,
    )
