"""The user of a run: answers confirmations and questions about fallbacks from the cassette."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from harness.cassette.format import Answers, ConfirmationAnswer
from harness.replay.witness import Witness
from services.abort import AbortController, AbortError, AbortSignal
from services.availability.handler import (
    FallbackIntent,
    FallbackModelHandler,
    FallbackQuestion,
)
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.clock import sleep_until_or_abort
from services.message_bus import ToolCallsUpdate, ToolCallView, ToolConfirmationResponse
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject

__all__ = ["ScriptedUser"]

_NO_ANSWER: Final = ConfirmationAnswer(outcome=ConfirmationOutcome.CANCEL)


class ScriptedUser:
    """Gives the cassette's answers in turn, in every session; the last one repeats."""

    def __init__(self, answers: Answers, witness: Witness) -> None:
        """Answer from `answers`, and record the questions in `witness`."""
        self._confirmations = list(answers.confirmations) or [_NO_ANSWER]
        self._intents = [FallbackIntent(intent) for intent in answers.fallback]
        self._witness = witness

    @property
    def fallback_handler(self) -> FallbackModelHandler | None:
        """The handler of questions about fallbacks; `None` without scripted intents."""
        return self._about_fallback if self._intents else None

    async def _about_fallback(self, question: FallbackQuestion) -> FallbackIntent:
        intent = self._intents.pop(0) if len(self._intents) > 1 else self._intents[0]
        self._witness.side(
            {
                "event": "fallback-handler",
                "failed": question.failed_model,
                "fallback": question.fallback_model,
                "error": question.error,
                "intent": str(intent),
            }
        )
        return intent

    @asynccontextmanager
    async def answering(self, services: Services) -> AsyncIterator[None]:
        """Answer every question of the schedulers of `services` inside the `with` block.

        The answer comes with the next tick of the loop, or after its delay. A question that is
        withdrawn before that gets none, and its outcome is null.
        """
        async with background_tasks() as tasks:
            questions = _Questions(self, services, tasks)
            off = services.bus.subscribe(ToolCallsUpdate, questions.look)
            try:
                yield
            finally:
                off()
                await tasks.end(0)

    def asked(self, call: ToolCallView) -> tuple[ConfirmationAnswer, JsonObject]:
        """The answer to the question about `call`, and the side event that records the question."""
        details = call.confirmation_details
        event: JsonObject = {
            "event": "confirmation",
            "type": details.type if details else None,
            "title": details.title if details else None,
            "outcome": None,
        }
        self._witness.side(event, call_id=call.call_id)
        if len(self._confirmations) > 1:
            return self._confirmations.pop(0), event
        return self._confirmations[0], event


class _Questions:
    """The questions of one session's schedulers, and the answers that are on their way."""

    def __init__(self, user: ScriptedUser, services: Services, tasks: BackgroundTasks) -> None:
        self._user = user
        self._services = services
        self._tasks = tasks
        self._known: set[str] = set()
        self._waiting: dict[str, dict[str, AbortController]] = {}
        """Scheduler → correlation id of a waiting question → what ends its wait."""

    def look(self, update: ToolCallsUpdate) -> None:
        """Answer new questions, and drop withdrawn ones."""
        shown = {
            call.correlation_id: call
            for call in update.calls
            if call.status == "awaiting_approval" and call.correlation_id is not None
        }
        waiting = self._waiting.setdefault(update.scheduler_id, {})
        for correlation_id in sorted(waiting.keys() - shown.keys()):
            waiting.pop(correlation_id).abort()
        for correlation_id, call in shown.items():
            if correlation_id not in self._known:
                self._known.add(correlation_id)
                self._reply(call, correlation_id, waiting)

    def _reply(
        self, call: ToolCallView, correlation_id: str, waiting: dict[str, AbortController]
    ) -> None:
        answer, event = self._user.asked(call)
        response = ToolConfirmationResponse(
            correlation_id=correlation_id,
            confirmed=answer.outcome is not ConfirmationOutcome.CANCEL,
            outcome=answer.outcome,
            payload=answer.payload,
        )
        if answer.delay_ms > 0:
            withdrawn = waiting[correlation_id] = AbortController()
            # The task starts later, when time may have passed.
            due_ms = self._services.clock.now_ms() + answer.delay_ms
            self._tasks.start(
                self._later(response, event, due_ms, withdrawn.signal), name="late answer"
            )
            return
        event["outcome"] = str(answer.outcome)
        asyncio.get_running_loop().call_soon(self._services.bus.publish, response)

    async def _later(
        self,
        response: ToolConfirmationResponse,
        event: JsonObject,
        due_ms: float,
        withdrawn: AbortSignal,
    ) -> None:
        try:
            await sleep_until_or_abort(self._services.clock, due_ms, withdrawn)
        except AbortError:
            return
        event["outcome"] = str(response.outcome)
        self._services.bus.publish(response)
