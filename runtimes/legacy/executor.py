"""`LocalAgentExecutor`: a child's turns, from its inputs to its output.

Source: core `agents/local-executor.ts`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, aclosing

from runtimes.legacy.chat import GeminiChat
from services.abort import AbortSignal
from services.chat import RequestParts
from services.children.calls import ChildCalls
from services.children.chats import compress_chat, open_chat
from services.children.child_services import ChildServices
from services.children.declaring import ChildDeclarations
from services.children.run import ChildRun, Ended
from services.model.generator import LlmRole
from services.model.parts import first_parts, function_calls, parse_thought
from services.subagents.activity import ActivityType
from services.subagents.deadline import RunTime
from services.subagents.definition import TerminateMode
from services.subagents.prompt import ChildPrompt
from services.subagents.recovery import TASK_COMPLETED
from services.subagents.steering_inbox import SteeringInbox
from services.wire import JsonObject, Part

__all__ = ["LocalAgentExecutor"]

_MINUTE_MS = 60_000


class LocalAgentExecutor(ChildRun):
    """Runs one child once: a loop of turns over a chat of its own."""

    turns = 0

    def __init__(self, child: ChildServices) -> None:
        minutes = child.definition.limits.minutes
        super().__init__(child, RunTime(child.services.clock, minutes * _MINUTE_MS))
        self._services = child.services
        self._inbox = SteeringInbox(child.services.steering)

    def _open_chat(self, prompt: ChildPrompt) -> GeminiChat:
        history = prompt.start_history()
        instruction = prompt.system_instruction()
        request_parts = RequestParts(
            role=LlmRole.SUBAGENT,
            system_instruction=lambda: instruction,
            tools=ChildDeclarations(self._child.toolset).current,
        )
        self._chat = GeminiChat(self._services, request_parts)
        open_chat(self._child, self._chat, history)
        return self._chat

    def _steered(self) -> AbstractContextManager[object]:
        return self._inbox.collecting()

    async def _turns(
        self, parts: list[Part], signal: AbortSignal, *, recovery: bool
    ) -> Ended | None:
        if recovery:
            turn = await self._turn(parts, self.turns, signal)
            return turn if isinstance(turn, Ended) else None
        while True:
            if self.turns >= self._child.definition.limits.turns:
                return Ended(TerminateMode.MAX_TURNS)
            if signal.aborted:
                return Ended(self.cut_off())
            self.turns += 1
            turn = await self._turn(parts, self.turns - 1, signal)
            if isinstance(turn, Ended):
                return turn
            parts = self._inbox.before_answers(turn)

    async def _turn(
        self, parts: list[Part], number: int, signal: AbortSignal
    ) -> Ended | list[Part]:
        """One turn: the reason why it is the last, or the next parts for the model."""
        child, chat, prompt_id = self._child, self._chat, self._child.prompt_id(number)
        await compress_chat(child, chat, prompt_id, signal)
        if child.definition.on_before_turn is not None:
            await child.definition.on_before_turn(chat)
        model, calls = await self._asked(chat, parts, prompt_id, signal)
        if signal.aborted:
            return Ended(self.cut_off())
        if not calls:
            return Ended(TerminateMode.ERROR_NO_COMPLETE_TASK_CALL)
        runner = ChildCalls(child, waiting=self._time.waiting, record=chat.record_tool_calls)
        outcome = await runner.run(calls, prompt_id, signal, model)
        if outcome.aborted:
            return Ended(TerminateMode.ABORTED)
        if outcome.completed:
            submitted = outcome.submitted_output
            return Ended(TerminateMode.GOAL, TASK_COMPLETED if submitted is None else submitted)
        return outcome.parts

    async def _asked(
        self, chat: GeminiChat, parts: list[Part], prompt_id: str, signal: AbortSignal
    ) -> tuple[str, list[JsonObject]]:
        """Ask the model; returns its name and its calls.

        Calls of an attempt that failed half-way count too, as upstream.
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
                    child.report(ActivityType.THOUGHT_CHUNK, {"text": subject})
                calls += function_calls(item)
        return key.model, calls
