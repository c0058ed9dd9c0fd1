"""`LocalAgentExecutor`: a child's turns, from its inputs to its output.

Source: core `agents/local-executor.ts`.
"""

from __future__ import annotations

import logging
from contextlib import aclosing
from dataclasses import dataclass

from runtimes.legacy.chat import GeminiChat
from runtimes.legacy.voice import ChatVoice
from services.abort import AbortSignal
from services.children.calls import ChildCalls
from services.children.child_services import ChildServices
from services.children.opening import chat_being_created
from services.compression.service import CompressionStatus
from services.model.errors import is_abort
from services.model.generator import LlmRole
from services.model.parts import first_parts, function_calls, parse_thought
from services.presentation.errors import thrown_text
from services.recording.conversion import ensure_stable_tool_ids
from services.subagents.activity import ActivityType
from services.subagents.deadline import DeadlineTimer, either_aborted
from services.subagents.definition import GRACE_PERIOD_MS, AgentOutput, TerminateMode
from services.subagents.prompt import ChildPrompt
from services.subagents.recovery import (
    GOAL_WITHOUT_RESULT,
    GRACE_RESULT,
    PROTOCOL_VIOLATION,
    RECOVERED,
    TASK_COMPLETED,
    TERMINATED,
    error_data,
    final_warning,
    recovery_announced,
    recovery_failed,
    summary_of,
)
from services.subagents.scopes import agent_scope
from services.subagents.steering_inbox import steering_inbox
from services.wire import JsonObject, Part

__all__ = ["LocalAgentExecutor"]

logger = logging.getLogger(__name__)

_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class _Stopped:
    """The loop is over."""

    reason: TerminateMode
    result: str | None = None


@dataclass(frozen=True, slots=True)
class _GoesOn:
    """The model is to be told this."""

    parts: list[Part]


class LocalAgentExecutor:
    """Runs one child once."""

    def __init__(self, child: ChildServices) -> None:
        self._child = child
        self._services = child.services

    async def run(self, inputs: JsonObject, signal: AbortSignal) -> AgentOutput:
        """Run the agent to its end.

        What goes wrong is told as an ERROR before it is raised; a time limit that ends a model
        call is no error.

        Raises:
            AbortError: `signal` was aborted while the model was asked.
            Exception: whatever ended the run: a model's fault, a missing input, a full disk.
        """
        child, services = self._child, self._services
        started_ms = services.clock.now_ms()
        with agent_scope(child.definition, services.workspace).entered():
            await child.toolset.open()
            minutes = child.definition.limits.minutes
            async with DeadlineTimer(services.clock, minutes * _MINUTE_MS) as deadline:
                run = _Run(child, deadline, signal)
                try:
                    reason, result = await run.to_its_end(inputs)
                except Exception as error:
                    child.tell(ActivityType.ERROR, error_data(thrown_text(error)))
                    raise
                finally:
                    child.toolset.close()
        return AgentOutput(
            result=result,
            terminate_reason=reason,
            turn_count=run.turns,
            duration_ms=services.clock.now_ms() - started_ms,
        )


class _Run:
    """One run: its chat, its deadline, its turns so far."""

    def __init__(self, child: ChildServices, deadline: DeadlineTimer, signal: AbortSignal) -> None:
        self.turns = 0
        self._child = child
        self._services = child.services
        self._deadline = deadline
        self._signal = signal
        self._chat: GeminiChat | None = None

    async def to_its_end(self, inputs: JsonObject) -> tuple[TerminateMode, str]:
        """Loop, and recover where that makes sense; the reason and the result."""
        prompt, broken_off = self._child.prompt(inputs), False
        try:
            with either_aborted(self._signal, self._deadline.signal) as signal:
                stopped = await self._loop(prompt, signal)
        except Exception as error:
            out_of_time = self._deadline.signal.aborted and not self._signal.aborted
            if not (is_abort(error) and out_of_time):
                raise
            stopped, broken_off = _Stopped(TerminateMode.TIMEOUT), True
        self._child.toolset.close()
        if stopped.reason.recoverable and self._chat is not None:
            stopped = await self._recovered(self._chat, stopped)
        if stopped.reason is not TerminateMode.GOAL:
            return stopped.reason, stopped.result or TERMINATED
        # Upstream puts words in place of an empty result, except where time broke off a call.
        if self._chat is None or stopped.result is None or not (stopped.result or broken_off):
            return stopped.reason, GOAL_WITHOUT_RESULT
        try:
            self._chat.recording.save_summary(summary_of(stopped.result))
        except OSError:
            logger.warning("the summary of a subagent's session was not saved", exc_info=True)
        return stopped.reason, stopped.result

    async def _loop(self, prompt: ChildPrompt, signal: AbortSignal) -> _Stopped:
        self._chat = chat = self._open_chat(prompt)
        query = prompt.query()
        with steering_inbox(self._services.steering) as inbox:
            parts = prompt.first_parts(query)
            while True:
                if self.turns >= self._child.definition.limits.turns:
                    return _Stopped(TerminateMode.MAX_TURNS)
                if signal.aborted:
                    return _Stopped(_why_aborted(self._deadline))
                self.turns += 1
                turn = await self._turn(chat, parts, self.turns - 1, signal, self._deadline)
                if isinstance(turn, _Stopped):
                    return turn
                parts = [*inbox.taken(), *turn.parts]

    def _open_chat(self, prompt: ChildPrompt) -> GeminiChat:
        services = self._services
        declared = [{"functionDeclarations": self._child.toolset.declarations()}]
        history = prompt.start_history()
        instruction = prompt.system_instruction()
        voice = ChatVoice(
            role=LlmRole.SUBAGENT,
            system_instruction=lambda: instruction,
            tools=lambda _: declared,
        )
        turns = ensure_stable_tool_ids([(services.ids.uuid("message"), each) for each in history])
        with chat_being_created():
            chat = GeminiChat(services, self._child.open_recording(), turns, voice)
            chat.bootstrap()
        return chat

    async def _turn(
        self,
        chat: GeminiChat,
        parts: list[Part],
        number: int,
        signal: AbortSignal,
        limit: DeadlineTimer,
    ) -> _Stopped | _GoesOn:
        """One turn under `signal`, of which `limit` is one source."""
        child, prompt_id = self._child, self._child.prompt_id(number)
        await self._compress(chat, prompt_id, signal)
        if child.definition.on_before_turn is not None:
            await child.definition.on_before_turn(chat)
        model, calls = await self._asked(chat, parts, prompt_id, signal)
        if signal.aborted:
            return _Stopped(_why_aborted(limit))
        if not calls:
            told = error_data(PROTOCOL_VIOLATION, "protocol_violation")
            child.tell(ActivityType.ERROR, told)
            return _Stopped(TerminateMode.ERROR_NO_COMPLETE_TASK_CALL)
        runner = ChildCalls(
            child, waiting=self._count_waiting, record=chat.recording.record_tool_calls
        )
        outcome = await runner.run(calls, prompt_id, signal, model)
        if outcome.aborted:
            return _Stopped(TerminateMode.ABORTED)
        if outcome.completed:
            submitted = outcome.submitted_output
            return _Stopped(TerminateMode.GOAL, TASK_COMPLETED if submitted is None else submitted)
        return _GoesOn(list(outcome.parts))

    async def _asked(
        self, chat: GeminiChat, parts: list[Part], prompt_id: str, signal: AbortSignal
    ) -> tuple[str, list[JsonObject]]:
        """Ask the model; which one it was, and the calls that it wants.

        Calls of an attempt that failed half-way count too, as upstream has it.
        """
        child = self._child
        key = await child.model_key(chat.curated_history, parts, prompt_id, signal)
        calls: list[JsonObject] = []
        async with aclosing(chat.send(key, parts, prompt_id, signal)) as stream:
            async for item in stream:
                if signal.aborted:
                    break
                if not isinstance(item, dict):
                    continue
                thoughts = (part for part in first_parts(item) if part.get("thought"))
                subject = parse_thought(next(thoughts, {}).get("text") or "").subject
                if subject:
                    child.tell(ActivityType.THOUGHT_CHUNK, {"text": subject})
                calls += function_calls(item)
        return key.model, calls

    async def _compress(self, chat: GeminiChat, prompt_id: str, signal: AbortSignal) -> None:
        services = self._services
        result = await services.compression.compress(
            chat, prompt_id, model=self._child.compression_model, signal=signal
        )
        replaced = (CompressionStatus.COMPRESSED, CompressionStatus.CONTENT_TRUNCATED)
        if result.new_history is not None and result.info.status in replaced:
            chat.set_turns([(services.ids.uuid("message"), each) for each in result.new_history])

    async def _recovered(self, chat: GeminiChat, stopped: _Stopped) -> _Stopped:
        """One more turn with a warning; where that fails too, what is said instead of a result."""
        child, reason = self._child, stopped.reason
        child.tell(ActivityType.THOUGHT_CHUNK, {"text": recovery_announced(reason)})
        result = await self._last_turn(chat, reason)
        if result is not None:
            return _Stopped(TerminateMode.GOAL, result)
        failed = recovery_failed(reason, child.definition.limits)
        child.tell(ActivityType.ERROR, error_data(failed.result, failed.context))
        return _Stopped(reason, failed.result)

    async def _last_turn(self, chat: GeminiChat, reason: TerminateMode) -> str | None:
        """The result, or `None`. The grace goes by while a person is waited for."""
        child = self._child
        try:
            async with DeadlineTimer(self._services.clock, GRACE_PERIOD_MS) as grace:
                with either_aborted(self._signal, grace.signal) as signal:
                    turn = await self._turn(chat, final_warning(reason), self.turns, signal, grace)
        except Exception as error:  # noqa: BLE001 - whatever it was, the run has its result
            failure = f"Graceful recovery attempt failed: {thrown_text(error)}"
            child.tell(ActivityType.ERROR, error_data(failure, "recovery_turn"))
            return None
        if isinstance(turn, _Stopped) and turn.reason is TerminateMode.GOAL:
            child.tell(ActivityType.THOUGHT_CHUNK, {"text": RECOVERED})
            return GRACE_RESULT if turn.result is None else turn.result
        how = "stop" if isinstance(turn, _Stopped) else "continue"
        failure = f"Graceful recovery attempt failed. Reason: {how}"
        child.tell(ActivityType.ERROR, error_data(failure, "recovery_turn"))
        return None

    def _count_waiting(self, waiting: bool) -> None:
        if waiting:
            self._deadline.pause()
        else:
            self._deadline.resume()


def _why_aborted(limit: DeadlineTimer) -> TerminateMode:
    return TerminateMode.TIMEOUT if limit.signal.aborted else TerminateMode.ABORTED
