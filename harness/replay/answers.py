"""The user of a run, as far as questions go: answers what is asked as the cassette says."""

from __future__ import annotations

import asyncio
from typing import Final

from harness.cassette.format import Answers, ConfirmationAnswer
from harness.replay.witness import Witness
from services.availability.handler import (
    FallbackIntent,
    FallbackModelHandler,
    FallbackQuestion,
)
from services.bundle import Services
from services.message_bus import ToolCallsUpdate, ToolCallView, ToolConfirmationResponse
from services.tools.contract import ConfirmationOutcome

__all__ = ["ScriptedUser"]

_NO_ANSWER: Final = ConfirmationAnswer(outcome=ConfirmationOutcome.CANCEL)


class ScriptedUser:
    """Answers in turn with what the cassette holds, whichever session asks; the last repeats."""

    def __init__(self, answers: Answers, witness: Witness) -> None:
        """Answer from `answers`, and tell `witness` what was asked."""
        self._confirmations = list(answers.confirmations)
        self._intents = [FallbackIntent(intent) for intent in answers.fallback]
        self._witness = witness

    @property
    def fallback_handler(self) -> FallbackModelHandler | None:
        """What answers about fallbacks; `None`, so that none is installed, without an intent."""
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

    def answer_confirmations(self, services: Services) -> None:
        """Answer every question that the scheduler of `services` shows.

        The answer comes with the next tick of the loop, as from somebody who had to be asked.
        """
        answered: set[str] = set()

        def look(update: ToolCallsUpdate) -> None:
            for call in update.calls:
                correlation_id = call.correlation_id
                if call.status != "awaiting_approval" or correlation_id is None:
                    continue
                if correlation_id not in answered:
                    answered.add(correlation_id)
                    self._reply(services, call, correlation_id)

        services.bus.subscribe(ToolCallsUpdate, look)

    def _reply(self, services: Services, call: ToolCallView, correlation_id: str) -> None:
        answer = self._next_answer()
        details = call.confirmation_details
        self._witness.side(
            {
                "event": "confirmation",
                "type": details.type if details else None,
                "title": details.title if details else None,
                "outcome": str(answer.outcome),
            },
            call_id=call.call_id,
        )
        response = ToolConfirmationResponse(
            correlation_id=correlation_id,
            confirmed=answer.outcome is not ConfirmationOutcome.CANCEL,
            outcome=answer.outcome,
            payload=answer.payload,
        )
        asyncio.get_running_loop().call_soon(services.bus.publish, response)

    def _next_answer(self) -> ConfirmationAnswer:
        if len(self._confirmations) > 1:
            return self._confirmations.pop(0)
        return self._confirmations[0] if self._confirmations else _NO_ANSWER
