"""The user of a run: answers confirmations from the cassette."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from harness.cassette.format import Answers, ConfirmationAnswer
from harness.replay.questions import ScriptedHandlers, in_turn
from harness.replay.witness import Witness
from services.abort import AbortController, AbortError, AbortSignal
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.clock import Clock, sleep_until_or_abort
from services.interaction.interaction import Interaction
from services.message_bus import ToolCallsUpdate, ToolCallView, ToolConfirmationResponse
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject

__all__ = ["ScriptedUser"]

_NO_ANSWER: Final = ConfirmationAnswer(outcome=ConfirmationOutcome.CANCEL)


class ScriptedUser:
    """Gives the cassette's answers in turn, in every session; the last answer repeats."""

    def __init__(self, answers: Answers, witness: Witness, clock: Clock) -> None:
        """Answer from `answers`, and record the questions in `witness`."""
        self._confirmations = list(answers.confirmations) or [_NO_ANSWER]
        self._witness = witness
        handlers = ScriptedHandlers(answers.questions, witness, clock)
        self.interaction = Interaction(handlers.made())

    @asynccontextmanager
    async def answering(self, services: Services) -> AsyncIterator[None]:
        """Answer every question of the schedulers of `services` inside the `with` block.

        The answer comes at the next tick of the loop, or after its delay. A question that is
        withdrawn before that gets no answer, and its outcome is null.
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
        """Return the answer to the question about `call`, and the side event of the question."""
        details = call.confirmation_details
        event: JsonObject = {
            "event": "confirmation",
            "type": details.type if details else None,
            "title": details.title if details else None,
            "outcome": None,
        }
        self._witness.side(event, call_id=call.call_id)
        return in_turn(self._confirmations), event


class _Questions:
    """The questions of one session's schedulers, and the answers that are on their way."""

    def __init__(self, user: ScriptedUser, services: Services, tasks: BackgroundTasks) -> None:
        self._user = user
        self._services = services
        self._tasks = tasks
        self._known: set[str] = set()
        self._waiting: dict[str, dict[str, AbortController]] = {}
        """Scheduler → correlation id of a waiting question → controller that ends its wait."""

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
        if answer.never:
            return
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
