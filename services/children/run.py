"""`ChildRun`: the run of a subagent from its inputs to its output.

A runtime does the turns. This module limits their time, collects steering messages, and gives the
model a last chance to submit a result.

Source: core `agents/local-executor.ts` (`runInternal`, `executeFinalWarningTurn`).
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Final, NamedTuple, final

from services.abort import AbortSignal
from services.chat import Chat
from services.children.child_services import ChildServices
from services.model.errors import is_abort
from services.presentation.errors import thrown_text
from services.subagents.activity import ActivityType
from services.subagents.deadline import RunTime, either_aborted
from services.subagents.definition import GRACE_PERIOD_MS, AgentOutput, TerminateMode
from services.subagents.prompt import ChildPrompt
from services.subagents.recovery import (
    GOAL_WITHOUT_RESULT,
    GRACE_RESULT,
    PROTOCOL_VIOLATION,
    RECOVERED,
    TERMINATED,
    error_data,
    final_warning,
    recovery_announced,
    recovery_failed,
    summary_of,
)
from services.wire import JsonObject, Part

__all__ = ["ChildRun", "Ended"]

logger = logging.getLogger(__name__)

_NOT_RECOVERED: Final = "Graceful recovery attempt failed"


class Ended(NamedTuple):
    """Why the turns ended, and the result if there is one."""

    reason: TerminateMode
    result: str | None = None


class ChildRun(ABC):
    """Runs one subagent once."""

    def __init__(self, child: ChildServices, time: RunTime) -> None:
        self._child = child
        self._time = time
        self._opened: Chat | None = None

    @property
    @abstractmethod
    def turns(self) -> int:
        """The turns that the task has begun."""

    @abstractmethod
    def _open_chat(self, prompt: ChildPrompt) -> Chat:
        """Open the chat with the prompt's first turns and its system instruction."""

    @abstractmethod
    def _steered(self) -> AbstractContextManager[object]:
        """Collect the messages to the subagent while its task runs."""

    @abstractmethod
    async def _turns(
        self, parts: list[Part], signal: AbortSignal, *, recovery: bool
    ) -> Ended | None:
        """Do the turns of the task, or the one recovery turn; `None` if that one asks for more."""

    async def run(self, inputs: JsonObject, signal: AbortSignal) -> AgentOutput:
        """Run the subagent to its end.

        An error that ends the run is reported as an ERROR before it is raised. A time limit that
        ends a model call is no error.

        Raises:
            AbortError: `signal` was aborted during a model call.
            Exception: the error that ended the run, such as a model's error or a missing input.
        """
        child = self._child
        clock = child.services.clock
        began_ms = clock.now_ms()
        await child.toolset.open()
        async with self._time.run():
            try:
                reason, result = await self._to_its_end(inputs, signal)
            except Exception as error:
                self._report_error(thrown_text(error))
                raise
            finally:
                child.toolset.close()
        return AgentOutput(
            result=result,
            terminate_reason=reason,
            turn_count=self.turns,
            duration_ms=clock.now_ms() - began_ms,
        )

    async def _to_its_end(
        self, inputs: JsonObject, signal: AbortSignal
    ) -> tuple[TerminateMode, str]:
        prompt, broken_off = self._child.prompt(inputs), False
        try:
            ended = await self._task(prompt, signal)
        except Exception as error:
            if not (is_abort(error) and self._time.signal.aborted and not signal.aborted):
                raise
            ended, broken_off = Ended(TerminateMode.TIMEOUT), True
        self._child.toolset.close()
        if ended.reason.recoverable and self._opened is not None:
            ended = await self._last_chance(ended.reason, signal)
        if ended.reason is not TerminateMode.GOAL:
            return ended.reason, ended.result or TERMINATED
        # Upstream replaces an empty result by a text, except after a timeout during a call.
        if ended.result or (broken_off and ended.result is not None):
            self._save_summary(ended.result)
            return ended.reason, ended.result
        return ended.reason, GOAL_WITHOUT_RESULT

    async def _task(self, prompt: ChildPrompt, signal: AbortSignal) -> Ended:
        self._child.toolset.declarations()
        self._opened = self._open_chat(prompt)
        query = prompt.query()
        with self._steered():
            ended = await self._limited(prompt.first_parts(query), signal)
        if ended is None:
            raise RuntimeError("the turns of a subagent ended without a reason")
        return ended

    async def _limited(
        self, parts: list[Part], signal: AbortSignal, *, recovery: bool = False
    ) -> Ended | None:
        """Do the turns until they end, the user aborts or the time is up."""
        with either_aborted(signal, self._time.signal) as either:
            ended = await self._turns(parts, either, recovery=recovery)
        if ended is not None and ended.reason is TerminateMode.ERROR_NO_COMPLETE_TASK_CALL:
            self._report_error(PROTOCOL_VIOLATION, "protocol_violation")
        return ended

    async def _last_chance(self, reason: TerminateMode, signal: AbortSignal) -> Ended:
        """Do the recovery turn and return the end of the run."""
        self.report_thought(recovery_announced(reason))
        result = await self._recovered(reason, signal)
        if result is not None:
            return Ended(TerminateMode.GOAL, result)
        return Ended(reason, self._given_up(reason))

    async def _recovered(self, reason: TerminateMode, signal: AbortSignal) -> str | None:
        """The result of the recovery turn, or `None`."""
        try:
            async with self._time.grace(GRACE_PERIOD_MS):
                ended = await self._limited(final_warning(reason), signal, recovery=True)
        except Exception as error:  # noqa: BLE001 - a failed recovery is reported, whatever failed
            self._report_error(f"{_NOT_RECOVERED}: {thrown_text(error)}", "recovery_turn")
            return None
        if ended is not None and ended.reason is TerminateMode.GOAL:
            self.report_thought(RECOVERED)
            return GRACE_RESULT if ended.result is None else ended.result
        status = "continue" if ended is None else "stop"
        self._report_error(f"{_NOT_RECOVERED}. Reason: {status}", "recovery_turn")
        return None

    def _given_up(self, reason: TerminateMode) -> str:
        failed = recovery_failed(reason, self._child.definition.limits)
        self._report_error(failed.result, failed.context)
        return failed.result

    def _save_summary(self, result: str) -> None:
        try:
            if self._opened is not None:
                self._opened.recording.save_summary(summary_of(result))
        except OSError:
            logger.warning("the summary of a subagent's session was not saved", exc_info=True)

    @final
    def cut_off(self) -> TerminateMode:
        """Why the turns end when their signal is aborted."""
        return TerminateMode.TIMEOUT if self._time.signal.aborted else TerminateMode.ABORTED

    def report_thought(self, text: str) -> None:
        """Report a thought."""
        self._child.report(ActivityType.THOUGHT_CHUNK, {"text": text})

    def _report_error(self, error: str, context: str | None = None) -> None:
        self._child.report(ActivityType.ERROR, error_data(error, context))
