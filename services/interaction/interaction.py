"""`Interaction`: services ask, and the surface that registered its handlers answers.

A surface gives `ServicesSetup` an `Interaction` with its `Handlers`, since some questions come
while the session opens. It may register further handlers later.

- Questions may be asked at the same time: by a session and its subagents. The surface decides
  whether it shows them one after the other.
- The asker may withdraw a question: it cancels the handler.
- An answer is used as it is. What an unknown value means is the asker's rule.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from services.abort import AbortSignal, until_aborted
from services.interaction.questions import (
    FallbackIntent,
    FallbackQuestion,
    LoopChoice,
    LoopQuestion,
    NewAgentsChoice,
    NewAgentsQuestion,
    Question,
    SignInQuestion,
    TrustChoice,
    TrustQuestion,
    ValidationIntent,
    ValidationQuestion,
)

__all__ = ["Handler", "Handlers", "Interaction"]

A = TypeVar("A")
Q = TypeVar("Q")

Handler = Callable[[Q], Awaitable[A]]
"""Answers one kind of question. It is cancelled when the question is withdrawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """A surface's handlers; `None`: the question's default is the answer."""

    fallback: Handler[FallbackQuestion, FallbackIntent | None] | None = None
    validation: Handler[ValidationQuestion, ValidationIntent | None] | None = None
    loop: Handler[LoopQuestion, LoopChoice] | None = None
    trust: Handler[TrustQuestion, TrustChoice | None] | None = None
    new_agents: Handler[NewAgentsQuestion, NewAgentsChoice] | None = None
    sign_in: Handler[SignInQuestion, bool] | None = None


class Interaction:
    """The handlers of a session's surface. Without any, every answer is the default."""

    def __init__(self, handlers: Handlers | None = None) -> None:
        """Begin with `handlers`."""
        self._registered: list[Handlers] = [] if handlers is None else [handlers]

    def observed(self, observe: Callable[[Handlers], Handlers]) -> None:
        """Let `observe` replace each of the present handlers."""
        self._registered = [observe(each) for each in self._registered]

    def register(self, handlers: Handlers) -> Callable[[], None]:
        """Prefer these handlers to those registered before; the result takes them back."""
        # By identity: equal handlers may be registered twice.
        self._registered.append(handlers)

        def off() -> None:
            self._registered[:] = [each for each in self._registered if each is not handlers]

        return off

    def answers(self, kind: type[Question[Any]]) -> bool:
        """Whether a surface answers questions of this kind."""
        return self._handler(kind.kind) is not None

    async def ask(self, question: Question[A], signal: AbortSignal | None = None) -> A:
        """Return the surface's answer, or the default without a handler.

        Args:
            question: What to ask.
            signal: Withdraws the question.

        Raises:
            AbortError: the question was withdrawn; the handler has ended.
            Exception: what the handler raises.
        """
        handler: Handler[Question[A], A] | None = self._handler(question.kind)
        if handler is None:
            return question.default
        answer = _called(handler, question)
        return await (answer if signal is None else until_aborted(answer, signal))

    def _handler(self, kind: str) -> Any:  # `Handlers` relates each kind to its types
        found = (getattr(handlers, kind) for handlers in reversed(self._registered))
        return next((handler for handler in found if handler is not None), None)


async def _called(handler: Handler[Q, A], question: Q) -> A:
    return await handler(question)
