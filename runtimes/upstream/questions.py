"""The core's questions to its user, answered by the session's `Interaction`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, Final

from runtimes.upstream.connection import Connection
from services.abort import AbortController, AbortError
from services.background import BackgroundTasks
from services.interaction.interaction import Interaction
from services.interaction.questions import (
    FallbackQuestion,
    NewAgent,
    NewAgentsQuestion,
    Question,
    ValidationQuestion,
)
from services.threads import within_call
from services.wire import JsonObject

__all__ = ["Questions"]

logger = logging.getLogger(__name__)


def _fallback(message: JsonObject) -> Question[Any]:
    return FallbackQuestion(
        failed_model=str(message["failed"]),
        fallback_model=str(message["fallback"]),
        error=str(message["error"]),
    )


def _validation(message: JsonObject) -> Question[Any]:
    return ValidationQuestion(
        link=message.get("link"),
        description=message.get("description"),
        learn_more_url=message.get("learnMoreUrl"),
    )


def _new_agents(message: JsonObject) -> Question[Any]:
    return NewAgentsQuestion(
        agents=tuple(
            NewAgent(name=str(each["name"]), description=str(each["description"]))
            for each in message["agents"]
        )
    )


_KINDS: Final[Mapping[str, tuple[type[Question[Any]], Callable[[JsonObject], Question[Any]]]]] = {
    FallbackQuestion.kind: (FallbackQuestion, _fallback),
    ValidationQuestion.kind: (ValidationQuestion, _validation),
    NewAgentsQuestion.kind: (NewAgentsQuestion, _new_agents),
}
"""What the driver asks: the type of each kind, and how its message is read."""
_OF_A_STREAM: Final = (FallbackQuestion.kind, ValidationQuestion.kind)


class Questions:
    """The questions of one session's driver.

    The core has no way to withdraw a question, so an abort fails it: a handler of the core's client
    that ends with the abort would do the same.
    """

    def __init__(
        self, connection: Connection, interaction: Interaction, tasks: BackgroundTasks
    ) -> None:
        self._connection = connection
        self._interaction = interaction
        self._tasks = tasks
        self._open: set[AbortController] = set()
        connection.handlers["question"] = self._on_question

    def kinds(self) -> list[str]:
        """The kinds of questions that the driver is to ask."""
        return [kind for kind, (of, _) in _KINDS.items() if self._interaction.answers(of)]

    def withdraw(self) -> None:
        """Withdraw the questions of streams that have no answer yet."""
        for question in list(self._open):
            question.abort()

    def _on_question(self, message: JsonObject) -> None:
        _, read = _KINDS[message["kind"]]
        call = message.get("insideCall")
        with nullcontext() if call is None else within_call(call):
            self._tasks.start(
                self._ask(int(message["id"]), read(message)), name="upstream question"
            )

    async def _ask(self, id_: int, question: Question[Any]) -> None:
        withdrawn = AbortController()
        if question.kind in _OF_A_STREAM:
            self._open.add(withdrawn)
        answer: JsonObject = {"t": "reply", "id": id_}
        try:
            value = await self._interaction.ask(question, withdrawn.signal)
            answer["value"] = value
        except AbortError:
            answer["failed"] = "the question was withdrawn"
        except Exception as error:
            logger.debug("a handler failed", exc_info=error)
            answer["failed"] = str(error)
        finally:
            self._open.discard(withdrawn)
        self._connection.send(answer)
