"""`ChildTermination`: a child's run from its inputs to its output, and why it ends.

ADK's flow drives the turns, one invocation for the task and one for the recovery turn; here is what
is around them: the time, the steering, the last chance to submit a result.

Source: core `agents/local-executor.ts` (`runInternal`, `executeTurn`, `executeFinalWarningTurn`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.child.chat import ChildConversation
from runtimes.adk.child.task import ChildTask
from runtimes.adk.notes import Delta, note_of
from runtimes.adk.plugins.complete_task import CompleteTaskAdkPlugin
from runtimes.adk.plugins.limits import MaxTimeAdkPlugin, MaxTurnsAdkPlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from runtimes.adk.run import Run
from runtimes.adk.send import Invoke
from services.abort import AbortSignal
from services.children.child_services import ChildServices
from services.model.errors import is_abort
from services.model.parts import parse_thought
from services.presentation.errors import thrown_text
from services.subagents.activity import ActivityType
from services.subagents.deadline import either_aborted
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

__all__ = ["ChildPlugins", "ChildTermination"]

logger = logging.getLogger(__name__)

_GRACE_OVER: Final = "Grace period timed out."
_NOT_RECOVERED: Final = "Graceful recovery attempt failed"


class ChildPlugins:
    """The ADK plugins of one child, all of them driven by its parts."""

    def __init__(self, child: ChildServices) -> None:
        services, limits = child.services, child.definition.limits
        self.max_turns = MaxTurnsAdkPlugin(max(0, limits.turns), driven=True)
        self.max_time = MaxTimeAdkPlugin(services.clock, limits.minutes * 60_000, driven=True)
        self.complete_task = CompleteTaskAdkPlugin()
        self.steering = SteeringAdkPlugin(services.steering, driven=True)

    @property
    def all(self) -> tuple[BasePlugin, ...]:
        """The plugins, in the order in which ADK calls them."""
        return self.max_turns, self.max_time, self.complete_task, self.steering


class ChildTermination:
    """Runs one child once."""

    def __init__(
        self,
        child: ChildServices,
        chat: ChildConversation,
        task: ChildTask,
        plugins: ChildPlugins,
    ) -> None:
        self._child = child
        self._chat = chat
        self._task = task
        self._plugins = plugins
        self._chatting = False

    async def run(self, inputs: JsonObject, signal: AbortSignal, invoke: Invoke) -> AgentOutput:
        """Do the task.

        Raises:
            Exception: whatever ended the run and is no end that an agent may come to.
        """
        clock = self._child.services.clock
        began_ms = clock.now_ms()
        max_time = self._plugins.max_time
        async with max_time.run():
            try:
                reason = await self._work(inputs, signal, invoke)
                result = self._plugins.complete_task.result
                if reason.recoverable:
                    reason, result = await self._last_chance(reason, signal, invoke)
                if reason is TerminateMode.GOAL:
                    result = self._concluded(result)
            except Exception as error:
                timed_out = max_time.time_is_up and not signal.aborted
                if not (is_abort(error) and timed_out):
                    self._report_error(thrown_text(error))
                    raise
                reason, result = TerminateMode.TIMEOUT, None
                if self._chatting:
                    reason, result = await self._last_chance(reason, signal, invoke)
                    if reason is TerminateMode.GOAL:
                        self._save_summary(result)
                else:
                    result = self._given_up(reason)
        return AgentOutput(
            result=TERMINATED if result is None else result,
            terminate_reason=reason,
            turn_count=self._plugins.max_turns.turns,
            duration_ms=clock.now_ms() - began_ms,
        )

    async def _work(self, inputs: JsonObject, signal: AbortSignal, invoke: Invoke) -> TerminateMode:
        """The task's turns, until one of them is the last."""
        child = self._child
        prompt = child.prompt(inputs)
        child.toolset.declarations()
        self._open_chat(prompt)
        query = prompt.query()
        try:
            with self._plugins.steering.collecting():
                parts = prompt.first_parts(query)
                ended = await self._turns(parts, signal, invoke)
        finally:
            child.toolset.close()
        if ended is None:
            raise RuntimeError("a child's turns came to an end without a reason")
        return ended

    def _open_chat(self, prompt: ChildPrompt) -> None:
        start_history = prompt.start_history()
        self._task.open(prompt.system_instruction())
        self._chat.open(start_history)
        self._chatting = True

    async def _turns(
        self, parts: Sequence[Part], external: AbortSignal, invoke: Invoke
    ) -> TerminateMode | None:
        """One invocation; why its last turn was the last, or `None` where nothing says so."""
        task, plugins = self._task, self._plugins
        with either_aborted(external, plugins.max_time.signal) as signal:
            run = Run(prompt_id=self._child.prompt_id(plugins.max_turns.turns), signal=signal)

            def read(event: Event) -> bool:
                return self._read(event, run)

            task.begin()
            await invoke(run, {"role": "user", "parts": list(parts)}, read)
            if plugins.complete_task.result is not None:
                return TerminateMode.GOAL
            if signal.aborted and task.end is None and not task.went_on:
                task.cut_short()
            if task.end is not None or task.went_on:
                return task.end
        self._report_error(PROTOCOL_VIOLATION, "protocol_violation")
        return TerminateMode.ERROR_NO_COMPLETE_TASK_CALL

    def _read(self, event: Event, run: Run) -> bool:
        """Take in a delta; return false, which ends the invocation, after an abort."""
        if not event.partial:
            return True
        if run.signal.aborted:
            return False
        note = note_of(event)
        if isinstance(note, Delta):
            self._take(note)
        return True

    def _take(self, delta: Delta) -> None:
        """Report the subject of a chunk's first thought."""
        if delta.part is not None and delta.part.get("thought") and not delta.index:
            subject = parse_thought(delta.part.get("text") or "").subject
            if subject:
                self._child.tell(ActivityType.THOUGHT_CHUNK, {"text": subject})

    async def _last_chance(
        self, reason: TerminateMode, signal: AbortSignal, invoke: Invoke
    ) -> tuple[TerminateMode, str]:
        """The recovery turn; what the run comes to with it."""
        recovered = await self._recovered(reason, signal, invoke)
        if recovered is not None:
            return TerminateMode.GOAL, recovered
        return reason, self._given_up(reason)

    async def _recovered(
        self, reason: TerminateMode, signal: AbortSignal, invoke: Invoke
    ) -> str | None:
        """What the recovery turn has submitted, if it has."""
        self._report_thought(recovery_announced(reason))
        try:
            self._task.recover()
            async with self._plugins.max_time.grace(GRACE_PERIOD_MS, _GRACE_OVER):
                ended = await self._turns(final_warning(reason), signal, invoke)
        except Exception as error:  # noqa: BLE001 - a failed recovery is reported, whatever failed
            self._report_error(f"{_NOT_RECOVERED}: {thrown_text(error)}", "recovery_turn")
            return None
        if ended is TerminateMode.GOAL:
            self._report_thought(RECOVERED)
            submitted = self._plugins.complete_task.result
            return GRACE_RESULT if submitted is None else submitted
        status = "continue" if ended is None else "stop"
        self._report_error(f"{_NOT_RECOVERED}. Reason: {status}", "recovery_turn")
        return None

    def _given_up(self, reason: TerminateMode) -> str:
        failed = recovery_failed(reason, self._child.definition.limits)
        self._report_error(failed.result, failed.context)
        return failed.result

    def _concluded(self, result: str | None) -> str:
        if result:
            self._save_summary(result)
        return result or GOAL_WITHOUT_RESULT

    def _save_summary(self, result: str) -> None:
        try:
            self._chat.recording.save_summary(summary_of(result))
        except OSError:
            logger.warning("the summary of a subagent's session was not saved", exc_info=True)

    def _report_thought(self, text: str) -> None:
        self._child.tell(ActivityType.THOUGHT_CHUNK, {"text": text})

    def _report_error(self, error: str, context: str | None = None) -> None:
        self._child.tell(ActivityType.ERROR, error_data(error, context))
