"""The handlers of a run: they answer the session's questions from the cassette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar, cast

from harness.cassette.format import QuestionAnswer
from harness.replay.witness import Witness
from services.abort import AbortController, AbortSignal
from services.clock import Clock, sleep_until_or_abort
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import FallbackQuestion, Question
from services.wire import Json, JsonObject

__all__ = ["HandlerFailed", "Recorded", "ScriptedHandlers", "in_turn"]

A = TypeVar("A")


class HandlerFailed(Exception):
    """A surface's handler failed, as the cassette wants."""


def in_turn(answers: list[A]) -> A:
    """Take the next answer; the last one repeats."""
    return answers.pop(0) if len(answers) > 1 else answers[0]


class ScriptedHandlers:
    """Answers questions in turn. Each question becomes a side event, its answer a field of it.

    A question that is withdrawn has the answer null, like one that is never answered.
    """

    def __init__(
        self, answers: Mapping[str, Sequence[QuestionAnswer]], witness: Witness, clock: Clock
    ) -> None:
        """Answer from `answers`, and record the questions in `witness`."""
        self._answers = {kind: list(given) for kind, given in answers.items() if given}
        self._witness = witness
        self._clock = clock

    def made(self) -> Handlers:
        """Return a handler for each kind of question that the cassette answers."""
        kinds = [field.name for field in fields(Handlers)]
        return Handlers(**{kind: self._handler(kind) for kind in kinds if kind in self._answers})

    def _handler(self, kind: str) -> Callable[[Question[Any]], Awaitable[Any]]:
        async def answer(question: Question[Any]) -> Any:
            given = in_turn(self._answers[kind])
            event, key = _side_event(question)
            self._witness.side(event)
            if given.never:
                await AbortController().signal.wait()
            if given.delay_ms > 0:
                due_ms = self._clock.now_ms() + given.delay_ms
                await sleep_until_or_abort(self._clock, due_ms, AbortController().signal)
            if given.fails is not None:
                event[key] = f"fails: {given.fails}"
                raise HandlerFailed(given.fails)
            event[key] = given.value
            return given.value

        return answer


class Recorded(Interaction):
    """The interaction of a surface, with a side event for each question that it answers."""

    def __init__(self, inner: Interaction, witness: Witness) -> None:
        """Let `inner` answer, and record the questions in `witness`."""
        super().__init__()
        self._inner = inner
        self._witness = witness

    def register(self, handlers: Handlers) -> Callable[[], None]:
        """Register with the surface's interaction."""
        return self._inner.register(handlers)

    def answers(self, kind: type[Question[Any]]) -> bool:
        """Whether the surface answers questions of this kind."""
        return self._inner.answers(kind)

    async def ask(self, question: Question[A], signal: AbortSignal | None = None) -> A:
        """Return the surface's answer; it becomes a field of the side event."""
        if not self.answers(type(question)):
            return await self._inner.ask(question, signal)
        event, key = _side_event(question)
        self._witness.side(event)
        answer = await self._inner.ask(question, signal)
        event[key] = cast("Json", answer)  # every answer is a text or a truth value
        return answer


def _side_event(question: Question[Any]) -> tuple[JsonObject, str]:
    """Return the side event of a question, and the key of its answer."""
    if isinstance(question, FallbackQuestion):
        event: JsonObject = {
            "event": "fallback-handler",
            "failed": question.failed_model,
            "fallback": question.fallback_model,
            "error": question.error,
            "intent": None,
        }
        return event, "intent"
    asked = {key: _plain(value) for key, value in asdict(question).items()}  # type: ignore[call-overload]  # every question is a dataclass
    return {"event": "question", "kind": question.kind, **asked, "answer": None}, "answer"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
