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

__all__ = ["answer_confirmations", "fallback_handler"]

_NO_ANSWER: Final = ConfirmationAnswer(outcome=ConfirmationOutcome.CANCEL)


def fallback_handler(answers: Answers, witness: Witness) -> FallbackModelHandler | None:
    """The handler that answers with the cassette's intents in turn; the last repeats.

    `None` where the cassette has no intents: then no handler is installed.
    """
    remaining = [FallbackIntent(intent) for intent in answers.fallback]
    if not remaining:
        return None

    async def handler(question: FallbackQuestion) -> FallbackIntent:
        intent = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        witness.side_events.append(
            {
                "event": "fallback-handler",
                "failed": question.failed_model,
                "fallback": question.fallback_model,
                "error": question.error,
                "intent": str(intent),
            }
        )
        return intent

    return handler


def answer_confirmations(services: Services, answers: Answers, witness: Witness) -> None:
    """Answer every question that the scheduler of `services` shows, in turn; the last repeats.

    The answer comes with the next tick of the loop, as from somebody who had to be asked.
    """
    remaining = list(answers.confirmations)
    answered: set[str] = set()

    def next_answer() -> ConfirmationAnswer:
        if len(remaining) > 1:
            return remaining.pop(0)
        return remaining[0] if remaining else _NO_ANSWER

    def reply(call: ToolCallView, correlation_id: str) -> None:
        answer = next_answer()
        details = call.confirmation_details
        witness.side_events.append(
            {
                "event": "confirmation",
                "type": details.type if details else None,
                "title": details.title if details else None,
                "outcome": str(answer.outcome),
            }
        )
        response = ToolConfirmationResponse(
            correlation_id=correlation_id,
            confirmed=answer.outcome is not ConfirmationOutcome.CANCEL,
            outcome=answer.outcome,
            payload=answer.payload,
        )
        asyncio.get_running_loop().call_soon(services.bus.publish, response)

    def look(update: ToolCallsUpdate) -> None:
        for call in update.calls:
            correlation_id = call.correlation_id
            if call.status != "awaiting_approval" or correlation_id is None:
                continue
            if correlation_id not in answered:
                answered.add(correlation_id)
                reply(call, correlation_id)

    services.bus.subscribe(ToolCallsUpdate, look)
