"""`Asides`: questions that nothing waits for. The answer comes while the session goes on."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from services.background import BackgroundTasks
from services.interaction.interaction import Interaction
from services.interaction.questions import Question

__all__ = ["Asides"]

logger = logging.getLogger(__name__)

A = TypeVar("A")


class Asides:
    """Asks in tasks of the session, which withdraws unanswered questions at its end."""

    def __init__(self, interaction: Interaction, tasks: BackgroundTasks) -> None:
        self._interaction = interaction
        self._tasks = tasks

    def ask(self, question: Question[A], then: Callable[[A], Awaitable[None]]) -> None:
        """Ask, and call `then` with the answer; without a surface that answers, do neither.

        A handler that fails has not answered.
        """
        if self._interaction.answers(type(question)):
            self._tasks.start(self._ask(question, then), name=f"question: {question.kind}")

    async def _ask(self, question: Question[A], then: Callable[[A], Awaitable[None]]) -> None:
        try:
            answer = await self._interaction.ask(question)
        except Exception:  # a surface's handler may raise anything; the session goes on
            logger.warning("a question (%s) could not be asked", question.kind, exc_info=True)
            return
        await then(answer)
